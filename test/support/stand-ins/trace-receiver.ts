// A receiver of traces as OpenTelemetry sends them: OTLP over HTTP, in JSON.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

export type ReceivedSpan = {
  name: string
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  /** 2 is a server's, 3 a client's, 5 a consumer's. */
  kind: number
  service: string
  attributes: Record<string, string>
}

type Attribute = { key: string; value: { stringValue?: string; intValue?: number | string } }
type Body = {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: Attribute[] })[] }[]
  }[]
}

const flat = (list: readonly Attribute[]): Record<string, string> =>
  Object.fromEntries(list.map(({ key, value }) => [key, String(value.stringValue ?? value.intValue)]))

export type TraceReceiver = {
  endpoint: string
  /** All spans so far, once `isEnough` holds of them. */
  until(isEnough: (spans: readonly ReceivedSpan[]) => boolean): Promise<readonly ReceivedSpan[]>
  close(): void
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = []
  let onMore: () => void = () => undefined
  const server = createServer(async (req, res) => {
    const { resourceSpans } = (await json(req)) as Body
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = flat(resource.attributes)['service.name'] ?? ''
      for (const span of scopeSpans.flatMap((scope) => scope.spans))
        spans.push({ ...span, service, attributes: flat(span.attributes) })
    }
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    onMore()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    async until(isEnough) {
      while (!isEnough(spans)) {
        await new Promise<void>((resolve) => {
          onMore = resolve
        })
      }
      return spans
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
