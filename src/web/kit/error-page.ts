// What is not there, and what went wrong: pages of the site with the right status.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '#lib/errors.ts'
import { escapeText, html } from '#platform/html/html.ts'
import type { MessageKey } from '#platform/html/languages.ts'
import { pathTo } from '#platform/html/page-context.ts'
import { asApiError } from '#platform/http/error-handler.ts'
import { readSiteRequest, type SiteDeps } from './page.ts'
import { staleFormError } from './safety.ts'
import { SEARCH } from './site-paths.ts'

const TITLES: Readonly<Record<number, MessageKey>> = {
  400: 'error.400',
  401: 'error.401',
  403: 'error.403',
  404: 'error.404',
  409: 'error.409',
  429: 'error.429',
  503: 'error.503',
}

/** A page in the frame of the site; without a database to say who asks, as for anybody. */
export async function showSiteError(
  given: SiteDeps,
  thrown: Error,
  req: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const error = staleFormError(thrown) ?? asApiError(thrown)
  // While there is no index to answer from: of a page that is a matter of moments, as the header says.
  const status = error.kind === 'search_error' ? 503 : error.status
  if (status >= 500) given.deps.log.error({ request_id: req.id, err: error.cause ?? error }, error.message)
  for (const [name, value] of Object.entries(error.headers ?? {})) void reply.header(name, value)
  void reply.removeHeader('etag')
  const request = await readSiteRequest(given, req, reply).catch(() => undefined)
  if (request === undefined) {
    await reply
      .status(503)
      .type('text/html; charset=utf-8')
      .send(`<!doctype html><title>503</title><p>${escapeText(error.message)}`)
    return
  }
  const { page, show } = request
  const { language } = page
  const isAbsent = status === 404
  const body = html`<div class="sheet slip">
<h1>${language.t(TITLES[status] ?? 'error.other')}</h1>
${isAbsent ? html`<p>${language.t('site.absent')}</p>` : html`<p lang="en">${error.message}</p>`}
${status >= 500 && html`<p class="hint">${language.rich('error.request', { id: html`<code>${req.id}</code>` })}</p>`}
<p><a class="button" href="${pathTo(page, SEARCH)}">${language.t('site.browse')}</a></p>
</div>`
  show({ status, title: language.t(TITLES[status] ?? 'error.other'), body, isUnlisted: true, className: 'page' })
}

export function absent(): never {
  throw notFound('page')
}
