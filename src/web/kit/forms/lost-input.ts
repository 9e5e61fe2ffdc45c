// Nothing that a user typed is lost: forms that arrive without a session are stored until the user has signed in again, and
// forms whose subject is no longer visible show their texts.
import type { FastifyReply } from 'fastify'
import { fieldsToKeep, type StoredFields, storeForm, takeForm } from '#features/basics/stored-forms/stored-forms.ts'
import { newSecret } from '#lib/access/tokens.ts'
import type { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import { callerOf } from '#platform/http/limits/client-address.ts'
import { html, type Part } from '#web/ui/html.ts'
import { slip } from '#web/ui/parts/lists.ts'
import { cookieName, cookieOptions } from '../cookies.ts'
import type { OwnRequest } from '../pages.ts'
import { signInPath } from '../paths.ts'
import type { PageRequest } from '../request.ts'

/** Query key with the key of a stored form. */
const RESTORE = 'restore'

/** Stores the form, and leads to the sign-in page, which leads back to the filled form. */
export async function keepForm(request: PageRequest): Promise<FastifyReply> {
  const { req, page, toSignIn } = request
  const url = new URL(page.address, 'http://local')
  const fields = fieldsToKeep(req.body)
  if (Object.keys(fields).length === 0) return toSignIn()
  // The notice belongs to an earlier command.
  url.searchParams.delete('done')
  for (const [name, key] of Object.entries(await restoreLater(request, url.pathname, fields)))
    url.searchParams.set(name, key)
  if (!url.searchParams.has(RESTORE)) return toSignIn()
  return request.redirect(signInPath(`${url.pathname}${url.search}`))
}

/**
 * Stores fields for the form of a page of this browser. Returns the values for the query of the page, which then shows them
 * once; nothing if the fields are too large.
 */
export async function restoreLater(
  { deps, req, reply }: PageRequest,
  path: string,
  fields: StoredFields,
): Promise<Record<string, string>> {
  const name = cookieName(deps.config, 'form')
  const browser = req.cookies[name] ?? newSecret().secret
  const key = await storeForm(deps.db, { browser, path, now: deps.now(), caller: callerOf(req), fields })
  if (key === undefined) return {}
  reply.setCookie(name, browser, { ...cookieOptions(deps.config), maxAge: HOUR_MS / 1000 })
  return { [RESTORE]: key }
}

/** Returns the stored form that the URL names, once. */
export async function restoredForm({ deps, req, page, query }: OwnRequest): Promise<StoredFields | undefined> {
  const key = query(RESTORE)
  const browser = req.cookies[cookieName(deps.config, 'form')]
  if (key === '' || browser === undefined) return undefined
  const path = new URL(page.address, 'http://local').pathname
  return takeForm(deps.db, { key, browser, path, now: deps.now() })
}

/** Shows that the page does not exist, with the texts that the user entered. */
export function showLostForm(request: OwnRequest, error: ApiError): FastifyReply {
  const { show, req, t } = request
  const texts = Object.entries(fieldsToKeep(req.body)).filter(([name, value]) => value !== '' && name !== 'was')
  const title = t('error.404')
  return show({
    status: error.status,
    title,
    body: slip(html`<h1>${title}</h1>
<p>${t('work.absent')}</p>
${lostTexts(request, texts)}`),
  })
}

/** Renders submitted texts, by the names of their fields, so that the user can copy them. */
export function lostTexts({ t }: OwnRequest, texts: readonly (readonly [string, string | readonly string[]])[]): Part {
  const areas = texts.map(
    (
      [name, value],
      index,
    ) => html`<div class="field"><label for="lost-${index}">${name}</label><textarea id="lost-${index}" readonly>
${[value].flat().join('\n')}</textarea></div>`,
  )
  return areas.length > 0 && html`<p>${t('work.lost')}</p>${areas}`
}
