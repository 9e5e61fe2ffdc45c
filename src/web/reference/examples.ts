// Writes an operation of the reference as a program: the request, and how to read its answer.
import type { Operated } from './describe.ts'

export const EXAMPLE_LANGUAGES = ['curl', 'javascript', 'python', 'go', 'java'] as const
export type ExampleLanguage = (typeof EXAMPLE_LANGUAGES)[number]
export const LANGUAGE_NAMES: Record<ExampleLanguage, string> = {
  curl: 'curl',
  javascript: 'JavaScript',
  python: 'Python',
  go: 'Go',
  java: 'Java',
}

/** Identifies the program, as each request must. */
const AGENT = 'my-program/1.0 (you@example.org)'
/** Name of the environment variable with the token. */
const TOKEN = 'DEPOT_TOKEN'
const FILE = 'lantern-1.0.0.jar'

/** A request without placeholders. `json`: the body. `parts`: the fields of a form with a file. */
type Request = {
  method: string
  url: string
  needsToken: boolean
  json: string | undefined
  parts: { data: string } | undefined
  bytes: string | undefined
}

/** Returns the program. `base`: URL of the instance without a slash at the end. */
export function writeExample(language: ExampleLanguage, operation: Operated, base: string): string {
  return WRITERS[language](toRequest(operation, base))
}

function toRequest({ method, path, parameters, body, needsToken }: Operated, base: string): Request {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const sample = parameters.find((each) => each.place === 'path' && each.name === name)?.sample
    return encodeURIComponent(text(sample ?? name))
  })
  const query = parameters
    .filter(({ place, isRequired }) => place === 'query' && isRequired)
    .map(({ name, sample }) => `${name}=${encodeURIComponent(text(sample))}`)
  const url = `${base}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`
  const request = { method, url, needsToken, json: undefined, parts: undefined, bytes: undefined }
  if (body === undefined) return request
  if (body.type === 'application/json') return { ...request, json: JSON.stringify(body.sample) }
  if (body.type === 'multipart/form-data')
    return { ...request, parts: { data: JSON.stringify((body.sample as { data?: unknown })?.data ?? body.sample) } }
  return { ...request, bytes: body.type }
}

const WRITERS: Record<ExampleLanguage, (request: Request) => string> = {
  curl: ({ method, url, needsToken, json, parts, bytes }) => {
    const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
    const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${shell(url)}`, `-A ${shell(AGENT)}`]
    if (needsToken) lines.push(`-H "Authorization: $${TOKEN}"`)
    if (json !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${shell(json)}`)
    if (parts !== undefined) lines.push(`-F ${shell(`data=${parts.data};type=application/json`)}`, `-F file=@${FILE}`)
    if (bytes !== undefined) lines.push(`-H ${shell(`Content-Type: ${bytes}`)}`, '--data-binary @file')
    return lines.join(' \\\n  ')
  },
  javascript: ({ method, url, needsToken, json, parts, bytes }) => {
    const headers = [`'User-Agent': '${AGENT}'`]
    if (needsToken) headers.push(`Authorization: ${'process'}.env.${TOKEN}`)
    if (json !== undefined) headers.push("'Content-Type': 'application/json'")
    if (bytes !== undefined) headers.push(`'Content-Type': '${bytes}'`)
    const options = [...(method === 'GET' ? [] : [`method: '${method}'`]), `headers: { ${headers.join(', ')} }`]
    if (json !== undefined) options.push(`body: JSON.stringify(${json})`)
    if (parts !== undefined) options.push('body: form')
    if (bytes !== undefined) options.push("body: await readFile('file')")
    const before = [
      ...(parts !== undefined || bytes !== undefined ? ["import { readFile } from 'node:fs/promises'"] : []),
      ...(parts === undefined
        ? []
        : [
            'const form = new FormData()',
            `form.append('data', ${JSON.stringify(parts.data)})`,
            `form.append('file', new Blob([await readFile('${FILE}')]), '${FILE}')`,
          ]),
    ]
    return [
      ...before,
      `const response = await fetch('${url.replaceAll("'", '%27')}', {`,
      ...options.map((option) => `  ${option},`),
      '})',
      'console.log(response.status, await response.text())',
    ].join('\n')
  },
  python: ({ method, url, needsToken, json, parts, bytes }) => {
    const headers = [`"User-Agent": "${AGENT}"`]
    if (needsToken) headers.push(`"Authorization": os.environ["${TOKEN}"]`)
    if (bytes !== undefined) headers.push(`"Content-Type": "${bytes}"`)
    const options = [`headers={${headers.join(', ')}}`]
    if (json !== undefined) options.push(`json=json.loads(${JSON.stringify(json)})`)
    if (parts !== undefined)
      options.push(
        `files=[("data", (None, ${JSON.stringify(parts.data)}, "application/json")), ("file", open("${FILE}", "rb"))]`,
      )
    if (bytes !== undefined) options.push('data=open("file", "rb")')
    const imports = [
      ...(json === undefined ? [] : ['import json']),
      ...(needsToken ? ['import os'] : []),
      'import requests',
    ]
    return [
      ...imports,
      '',
      `response = requests.request("${method}", ${JSON.stringify(url)},`,
      ...options.map((option, index) => `    ${option}${index === options.length - 1 ? ')' : ','}`),
      'print(response.status_code, response.text)',
    ].join('\n')
  },
  go: ({ method, url, needsToken, json, parts, bytes }) => {
    const raw = (text: string): string => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``)
    const imports = ['fmt', 'io', 'net/http']
    const before: string[] = []
    let body = 'nil'
    if (json !== undefined) {
      imports.push('strings')
      body = `strings.NewReader(${raw(json)})`
    }
    if (bytes !== undefined) {
      imports.push('os')
      before.push('body, err := os.Open("file")', 'if err != nil {', '\tpanic(err)', '}')
      body = 'body'
    }
    if (parts !== undefined) {
      imports.push('bytes', 'mime/multipart', 'os')
      before.push(
        'body := &bytes.Buffer{}',
        'form := multipart.NewWriter(body)',
        `form.WriteField("data", ${raw(parts.data)})`,
        `part, err := form.CreateFormFile("file", "${FILE}")`,
        'if err != nil {',
        '\tpanic(err)',
        '}',
        `content, err := os.ReadFile("${FILE}")`,
        'if err != nil {',
        '\tpanic(err)',
        '}',
        'part.Write(content)',
        'form.Close()',
      )
      body = 'body'
    }
    if (needsToken && !imports.includes('os')) imports.push('os')
    const lines = [
      ...before,
      `request, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${body})`,
      'if err != nil {',
      '\tpanic(err)',
      '}',
      `request.Header.Set("User-Agent", "${AGENT}")`,
      ...(needsToken ? [`request.Header.Set("Authorization", os.Getenv("${TOKEN}"))`] : []),
      ...(json === undefined ? [] : ['request.Header.Set("Content-Type", "application/json")']),
      ...(bytes === undefined ? [] : [`request.Header.Set("Content-Type", "${bytes}")`]),
      ...(parts === undefined ? [] : ['request.Header.Set("Content-Type", form.FormDataContentType())']),
      'response, err := http.DefaultClient.Do(request)',
      'if err != nil {',
      '\tpanic(err)',
      '}',
      'defer response.Body.Close()',
      'answer, _ := io.ReadAll(response.Body)',
      'fmt.Println(response.StatusCode, string(answer))',
    ]
    return [
      'package main',
      '',
      'import (',
      ...imports.sort().map((name) => `\t"${name}"`),
      ')',
      '',
      'func main() {',
      ...lines.map((line) => `\t${line}`),
      '}',
    ].join('\n')
  },
  java: ({ method, url, needsToken, json, parts, bytes }) => {
    const publisher =
      json !== undefined
        ? `BodyPublishers.ofString(${JSON.stringify(json)})`
        : parts !== undefined
          ? 'BodyPublishers.ofByteArray(form)'
          : bytes !== undefined
            ? 'BodyPublishers.ofFile(Path.of("file"))'
            : 'BodyPublishers.noBody()'
    const before =
      parts === undefined
        ? []
        : [
            'String boundary = "lantern-boundary";',
            `byte[] file = Files.readAllBytes(Path.of("${FILE}"));`,
            'ByteArrayOutputStream out = new ByteArrayOutputStream();',
            'out.write(("--" + boundary + "\\r\\nContent-Disposition: form-data; name=\\"data\\"\\r\\n"',
            `    + "Content-Type: application/json\\r\\n\\r\\n" + ${JSON.stringify(parts.data)} + "\\r\\n").getBytes(UTF_8));`,
            `out.write(("--" + boundary + "\\r\\nContent-Disposition: form-data; name=\\"file\\"; filename=\\"${FILE}\\"\\r\\n\\r\\n").getBytes(UTF_8));`,
            'out.write(file);',
            'out.write(("\\r\\n--" + boundary + "--\\r\\n").getBytes(UTF_8));',
            'byte[] form = out.toByteArray();',
          ]
    const type =
      json !== undefined
        ? '"application/json"'
        : parts !== undefined
          ? '"multipart/form-data; boundary=" + boundary'
          : bytes === undefined
            ? undefined
            : `"${bytes}"`
    const imports = [
      ...(parts === undefined ? [] : ['import java.io.ByteArrayOutputStream;']),
      'import java.net.URI;',
      'import java.net.http.*;',
      'import java.net.http.HttpRequest.BodyPublishers;',
      'import java.net.http.HttpResponse.BodyHandlers;',
      ...(parts === undefined && bytes === undefined ? [] : ['import java.nio.file.*;']),
      ...(parts === undefined ? [] : ['import static java.nio.charset.StandardCharsets.UTF_8;']),
    ]
    const lines = [
      ...before,
      `HttpRequest request = HttpRequest.newBuilder(URI.create(${JSON.stringify(url)}))`,
      `    .header("User-Agent", "${AGENT}")`,
      ...(needsToken ? [`    .header("Authorization", System.getenv("${TOKEN}"))`] : []),
      ...(type === undefined ? [] : [`    .header("Content-Type", ${type})`]),
      `    .method("${method}", ${publisher})`,
      '    .build();',
      'HttpResponse<String> response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());',
      'System.out.println(response.statusCode() + " " + response.body());',
    ]
    return [
      ...imports,
      '',
      'public class Example {',
      '  public static void main(String[] args) throws Exception {',
      ...lines.map((line) => `    ${line}`),
      '  }',
      '}',
    ].join('\n')
  },
}
