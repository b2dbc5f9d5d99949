# A static binary in an image that holds no other program, and runs as nobody.
# The builder is named by tag, because its digest could not be verified offline.
# To pin it: docker build --build-arg GO_IMAGE=golang:1.26@sha256:... .
ARG GO_IMAGE=golang:1.26
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -buildid=" -o /out/memoryd ./cmd/memoryd \
    && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /usr/share/zoneinfo /usr/share/zoneinfo
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/memoryd /memoryd
# For all commands, so that `docker compose run --rm memoryd export backup.jsonl.gz` finds the store and writes beside it.
# An address beyond loopback asks for API keys, and is refused until TLS is configured or MEMORYD_HTTP_BEHIND_PROXY=true says that a
# proxy encrypts or the network is private (docs/security.md). The first start prints an admin's key, unless MEMORYD_ADMIN_KEY holds one.
ENV MEMORYD_LISTEN=0.0.0.0:8002 MEMORYD_DATA=/data
WORKDIR /data
USER 65532:65532
VOLUME /data
EXPOSE 8002
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=6 \
    CMD ["/memoryd", "health"]
ENTRYPOINT ["/memoryd"]
CMD ["serve"]
