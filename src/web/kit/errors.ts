// The error page: every error that no form shows.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '#lib/errors.ts'
import { escapeText } from '#lib/text/xml.ts'
import { asApiError, noteFailure } from '#platform/http/error-handler.ts'
import { html, type Markup } from '#web/ui/html.ts'
import { isMessageKey } from '#web/ui/languages.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { slip } from '#web/ui/parts/lists.ts'
import { translateRefusal, withoutRawNames } from '#web/ui/refusals.ts'
import { findMovedPath } from './moved.ts'
import { type Area, readRequest, type WebDeps } from './request.ts'
import { staleFormError } from './safety.ts'

type Failure = { area: Area; thrown: Error; req: FastifyRequest; reply: FastifyReply }

/** Renders the message in the language of the page, if there is one, otherwise in English. */
function messageOf({ language }: PageContext, { message }: ApiError): Markup {
  const translated = translateRefusal(language, message)
  return translated === undefined ? html`<p lang="en">${withoutRawNames(message)}</p>` : html`<p>${translated}</p>`
}

/** Shows an error with no more details than the API would return. If the database is unavailable, the page has no frame. */
export async function showError(web: WebDeps, { area, thrown, req, reply }: Failure): Promise<FastifyReply> {
  const error = staleFormError(thrown) ?? asApiError(thrown)
  // Without a search index, pages are unavailable only for moments, as the header Retry-After says.
  const status = error.kind === 'search_error' ? 503 : error.status
  if (status >= 500) noteFailure(web.deps.log, req, error)
  for (const [name, value] of Object.entries(error.headers ?? {})) void reply.header(name, value)
  void reply.removeHeader('etag').removeHeader('content-encoding')
  const request = await readRequest(web, req, reply, { area }).catch(() => undefined)
  if (request === undefined)
    return reply
      .status(503)
      .type('text/html; charset=utf-8')
      .send(`<!doctype html><title>503</title><p>${escapeText(error.message)}`)
  const { page, show } = request
  const moved = error.status === 404 ? await findMovedPath(request).catch(() => undefined) : undefined
  // With 308, browsers send a form again.
  if (moved !== undefined) return reply.redirect(pathTo(page, moved), req.method === 'POST' ? 308 : 301)
  const { t, rich } = page.language
  const key = `error.${status}`
  const title = t(isMessageKey(key) ? key : 'error.other')
  const { wayOut, missing } = area
  const known = status === 404 ? missing : status === 429 ? 'error.wait' : undefined
  const seconds = Number(error.headers?.['retry-after'] ?? 1)
  const body = slip(html`<h1>${title}</h1>
${known === undefined ? messageOf(page, error) : html`<p>${t(known, { seconds })}</p>`}
${status >= 500 && html`<p class="hint">${rich('error.request', { id: html`<code>${req.id}</code>` })}</p>`}
<p><a class="button" href="${pathTo(page, wayOut.path)}">${t(wayOut.label)}</a></p>`)
  return show({ status, title, body, isUnlisted: true })
}
