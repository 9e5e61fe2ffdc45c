// The texts of the operator about the instance and its rules.
import type { FastifyReply } from 'fastify'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { notFound } from '#lib/errors.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import { html } from '#platform/html/html.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { OperatorText } from '#web/kit/site.ts'

/** @throws ApiError `not_found` if the text is blank */
export async function showOperatorText(request: PageRequest, name: OperatorText): Promise<FastifyReply> {
  const { deps, page, show, texts } = request
  const text = (await getSettings(deps))[name] ?? ''
  if (isBlank(text)) throw notFound('page')
  const title = page.language.t(`layout.${name}`)
  const body = html`<article class="sheet section"><h1>${title}</h1>
${await texts.render(text, page)}</article>`
  return show({ title, canonical: `/${name}`, openGraph: { type: 'article' }, className: 'page', body })
}
