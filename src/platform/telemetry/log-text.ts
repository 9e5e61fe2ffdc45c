// The text log for a terminal: one short line per event, made from the JSON lines.

type Line = Record<string, unknown> & { level?: string; time?: string; msg?: string }

const COLOURS = { fatal: 31, error: 31, warn: 33, debug: 2, trace: 2 } as const satisfies Record<string, number>
/** Longer values are only in the JSON log. */
const STACK_LINES_MAX = 12

/** Converts a line of JSON to text that ends with a newline. Returns other lines unchanged. */
export function textLine(line: string, { colour }: { colour: boolean }): string {
  let event: Line
  try {
    event = JSON.parse(line) as Line
  } catch {
    return line
  }
  const paint = (code: number, text: string): string => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)
  const time = paint(2, (event.time ?? '').slice(11, 19))
  const level = event.level ?? 'info'
  const code = level in COLOURS ? COLOURS[level as keyof typeof COLOURS] : undefined
  const mark = level === 'info' ? '' : `${paint(code ?? 0, level)} `
  return `${time} ${mark}${plain(sentence(event))}${problem(event)}\n`
}

/** Shows the fields of requests and business events. All other messages are sentences. */
function sentence(event: Line): string {
  const { msg = '', method, route, status, duration_ms: ms } = event
  if (msg === 'request') return `${method} ${route} ${status} ${ms} ms`
  const { error } = event
  return typeof error === 'string' ? `${msg}: ${error}` : msg
}

function problem(event: Line): string {
  const err = event['err']
  if (typeof err !== 'object' || err === null) return ''
  const { stack, message } = err as { stack?: unknown; message?: unknown }
  const text = typeof stack === 'string' ? stack : String(message ?? '')
  return `\n${plain(text.split('\n').slice(0, STACK_LINES_MAX).join('\n'))}`
}

/** Removes control characters, so that logged values cannot control the terminal. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function removes them
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ')
}
