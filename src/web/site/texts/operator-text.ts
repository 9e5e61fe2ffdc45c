// The texts of the operator, such as About and the terms.
import type { FastifyReply } from 'fastify'
import { getPage } from '#features/basics/settings/pages/queries.ts'
import { getSettings } from '#features/basics/settings/settings-cache.ts'
import { notFound } from '#lib/errors.ts'
import { isBlank } from '#lib/text/text-rules.ts'
import type { PageRequest } from '#web/kit/request.ts'
import type { OperatorText } from '#web/kit/site.ts'
import { exactTime } from '#web/ui/format.ts'
import { html, type Part } from '#web/ui/html.ts'

/** Shows a text of the operator. @throws ApiError `not_found` if the text is blank */
export async function showOperatorText(request: PageRequest, name: OperatorText): Promise<FastifyReply> {
  const { page, show, texts } = request
  const { text, state } = await findText(request, name)
  if (isBlank(text)) throw notFound('page')
  const title = page.language.t(`layout.${name}`)
  const body = html`<article class="sheet section"><h1>${title}</h1>
${await texts.render(text, page)}${state}</article>`
  return show({ title, canonical: `/${name}`, openGraph: { type: 'article' }, className: 'page', body })
}

/** The page reads the settings first, because a cached page stays until they change. */
async function findText({ deps, page }: PageRequest, name: OperatorText): Promise<{ text: string; state?: Part }> {
  const { about } = await getSettings(deps)
  if (name === 'about') return { text: about ?? '' }
  const { rich } = page.language
  const { text, version, published } = await getPage(deps.db, name)
  const state = rich('site.text.version', { version: String(version), time: exactTime(page.language, published) })
  return {
    text,
    state: html`
<p class="soft">${state}</p>`,
  }
}
