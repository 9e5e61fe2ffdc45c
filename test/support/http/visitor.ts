// A person with a browser that runs no scripts, for tests of pages: keeps cookies, follows nothing by itself, and sends
// the forms it is shown.
import assert from 'node:assert/strict'
import type { LightMyRequestResponse as InjectResponse } from 'fastify'
import { BYPASS_KEY, type TestApp } from '../app/test-app.ts'

type Fields = Record<string, string | readonly string[]>

export type Visitor = {
  cookies: Map<string, string>
  get(path: string): Promise<InjectResponse>
  /** Posts fields as they are, without looking at a page. */
  post(path: string, fields: Fields, headers?: Record<string, string>): Promise<InjectResponse>
  /** Loads a page and sends its form to `action`, with its hidden fields and these. */
  send(page: string, action: string, fields?: Fields): Promise<InjectResponse>
  /** Sends the form to `action` of a page that was answered. */
  sendFrom(answer: InjectResponse, action: string, fields?: Fields): Promise<InjectResponse>
}

export function visitor(t: TestApp, session?: string): Visitor {
  const cookies = new Map<string, string>()
  if (session !== undefined) cookies.set('__Host-depot-session', session)
  const common = () => ({
    accept: 'text/html',
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
    'x-ratelimit-key': BYPASS_KEY,
    cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  })
  const keep = (answer: InjectResponse): InjectResponse => {
    for (const { name, value, ...cookie } of answer.cookies as { name: string; value: string; expires?: Date }[]) {
      if (value === '' || (cookie.expires !== undefined && cookie.expires.getTime() <= t.deps.now()))
        cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  const get = async (url: string) => keep(await t.inject({ method: 'GET', url, headers: common() }))
  const post: Visitor['post'] = async (url, fields, headers = {}) => {
    const form = new URLSearchParams()
    for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) form.append(name, one)
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return keep(
      await t.inject({ method: 'POST', url, payload: form.toString(), headers: { ...common(), ...type, ...headers } }),
    )
  }
  const sendFrom: Visitor['sendFrom'] = (answer, action, fields = {}) =>
    post(action, { ...hiddenFields(answer, action), ...fields })
  return {
    cookies,
    get,
    post,
    sendFrom,
    send: async (page, action, fields) => sendFrom(await get(page), action, fields),
  }
}

/** The hidden fields of the form on a page that posts to `action`. */
export function hiddenFields(answer: InjectResponse, action: string): Record<string, string> {
  const form = answer.body
    .split('<form')
    .find((part) => part.includes(`action="${action}"`))
    ?.split('</form>')[0]
  assert.ok(form !== undefined, `no form to ${action} on: ${answer.body.slice(answer.body.indexOf('<main'), 4000)}`)
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, unescapeHtml(value)]))
}

function unescapeHtml(text: string): string {
  return text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
}

/** Checks that a form led on to `path`, and returns it. */
export function assertLeads(answer: InjectResponse, path: string): string {
  assert.deepEqual(
    [answer.statusCode, answer.headers.location],
    [303, path],
    answer.body.slice(answer.body.indexOf('<main'), 4000),
  )
  return path
}

/** Checks that a page says something. */
export function assertSays(answer: InjectResponse, status: number, text: string | RegExp): void {
  assert.equal(answer.statusCode, status, answer.body.slice(answer.body.indexOf('<main'), 4000))
  assert.match(String(answer.headers['content-type']), /^text\/html/)
  const shown = unescapeHtml(answer.body)
  assert.ok(
    typeof text === 'string' ? shown.includes(text) : text.test(shown),
    `${text} is not on: ${shown.slice(shown.indexOf('<main'), 4000)}`,
  )
}
