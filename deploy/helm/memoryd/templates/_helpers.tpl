{{- define "memoryd.labels" -}}
app.kubernetes.io/name: memoryd
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "memoryd.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}
{{- define "memoryd.hosts" -}}
{{- $name := printf "%s-memoryd" .Release.Name }}
{{- $name }},{{ $name }}.{{ .Release.Namespace }},{{ $name }}.{{ .Release.Namespace }}.svc,{{ $name }}.{{ .Release.Namespace }}.svc.cluster.local
{{- range .Values.hosts }},{{ . }}{{ end }}
{{- end }}
