// Content negotiation for paths with both a page and a JSON response. Routes with the constraint `prefers: 'html'` handle
// clients that prefer HTML.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyServerOptions } from 'fastify'

/** Maximum number of types to read, more than any client sends. */
const ACCEPTED_MAX = 32

/** Whether `Accept` puts `text/html` above `application/json` (RFC 9110, 12.5.1). Clients that accept everything get JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  if (accept === undefined || !/html/i.test(accept)) return false
  const weights = acceptedTypes(accept)
  const weightOf = (...types: string[]) => types.map((type) => weights.get(type)).find((weight) => weight !== undefined)
  const html = weightOf('text/html', 'application/xhtml+xml') ?? 0
  return html > 0 && html > (weightOf('application/json', 'application/*', '*/*') ?? 0)
}

/** Programs that show a preview of a link in a chat. They accept everything, and understand only pages. */
const PREVIEW_AGENTS =
  /\b(?:slackbot|twitterbot|facebookexternalhit|whatsapp|telegrambot|discordbot|linkedinbot|skypeuripreview|mastodon|synapse)\b/i

function isPreview({ accept, 'user-agent': agent = '' }: IncomingHttpHeaders): boolean {
  return (accept === undefined || accept.includes('*/*')) && PREVIEW_AGENTS.test(agent.slice(0, 512))
}

/** Whether `Accept` prefers CSV to the other type. If both have the same quality, the first one wins. */
export function prefersCsv(accept: string | undefined, other: string): boolean {
  if (accept === undefined) return false
  const weights = acceptedTypes(accept)
  const [csv, second] = [weights.get('text/csv') ?? 0, weights.get(other) ?? 0]
  const first = weights.keys().find((type) => type === 'text/csv' || type === other)
  return csv > 0 && (csv > second || (csv === second && first === 'text/csv'))
}

/** Returns the quality of each type in an `Accept` header, in the order of the header. */
export function acceptedTypes(accept: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const entry of accept.split(',', ACCEPTED_MAX)) {
    const [type = '', ...parameters] = entry.toLowerCase().split(';')
    const weight = parameters.map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(parameter)?.[1]).find(Boolean)
    weights.set(type.trim(), weight === undefined ? 1 : Number(weight))
  }
  return weights
}

type Strategies = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>

/** The router's constraint. Other requests match the routes without a constraint. */
export const prefersConstraint: Strategies[string] = {
  name: 'prefers',
  storage: () => {
    type Handler = ReturnType<ReturnType<Strategies[string]['storage']>['get']>
    const handlers = new Map<unknown, Handler>()
    return { get: (type) => handlers.get(type) ?? null, set: (type, handler) => void handlers.set(type, handler) }
  },
  deriveConstraint: ({ headers }) => (prefersHtml(headers.accept) || isPreview(headers) ? 'html' : ''),
  mustMatchWhenDerived: false,
}
