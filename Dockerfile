# A static binary in an image that holds nothing else and runs as nobody.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/memoryd ./cmd/memoryd \
    && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /usr/share/zoneinfo /usr/share/zoneinfo
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/memoryd /memoryd
USER 65532:65532
VOLUME /data
EXPOSE 8002
ENTRYPOINT ["/memoryd"]
CMD ["serve", "--listen", "0.0.0.0:8002", "--data", "/data"]
