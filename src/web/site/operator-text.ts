// What operators say of their instance: what it is for, and its rules.
import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { html } from '#platform/html/html.ts'
import { absent } from '#web/kit/error-page.ts'
import type { SiteRequest } from '#web/kit/page.ts'
import type { OperatorText } from '#web/kit/site.ts'

/** @throws ApiError `not_found` while the text says nothing */
export async function showOperatorText(request: SiteRequest, name: OperatorText): Promise<FastifyReply> {
  const { deps, page, show, texts } = request
  const text = (await getSettings(deps))[name] ?? ''
  if (isBlank(text)) absent()
  const title = page.language.t(`layout.${name}`)
  const body = html`<article class="sheet section"><h1>${title}</h1>
${await texts.render(text, page)}</article>`
  return show({ title, canonical: `/${name}`, openGraph: { type: 'article' }, className: 'page', body })
}
