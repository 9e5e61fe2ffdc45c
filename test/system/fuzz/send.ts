// From a recipe to the bytes of a request.
import type { RouteEntry } from '#platform/http/route-config.ts'
import type { Request } from '#test/api/operations/requests.ts'
import type { Thing } from '#test/api/operations/world.ts'
import { form, modJar } from '#test/support/http/forms.ts'
import { asObject } from '#test/support/http/openapi-rules.ts'
import type { Body, Edit, Recipe } from './recipe.ts'
import { putThings } from './values.ts'

type Sample = Omit<Request, 'query' | 'payload'> & { query?: unknown; payload?: unknown }
type Parts = { path: string[]; query: [string, string][]; body: unknown; bytes: Buffer | undefined }

/** The request of a recipe. `sample` is the operation's valid one, without credentials. */
export async function toRequest(
  recipe: Recipe,
  { route, sample, ids }: { route: RouteEntry; sample: Sample; ids: ReadonlyMap<Thing, string> },
): Promise<Request> {
  const method = recipe.asHead && sample.method === 'GET' ? 'HEAD' : (sample.method as 'GET')
  if (recipe.from === 'sample') {
    const parts = recipe.edits.reduce((known, edit) => apply(known, edit, route, ids), partsOf(sample))
    const payload = parts.bytes ?? (parts.body === undefined ? undefined : toJson(parts.body, ids))
    const type = parts.bytes === undefined && parts.body !== undefined ? { 'content-type': 'application/json' } : {}
    return {
      method,
      url: addressOf(parts.path.join('/'), parts.query),
      headers: clean({ ...sample.headers, ...type, ...recipe.headers }),
      ...(payload === undefined ? {} : { payload }),
    }
  }
  const path = route.url.replace(/:([a-z_]+)/g, (_, name: string) => encode(putThings(recipe.path[name] ?? '', ids)))
  const query = recipe.query.map(([name, value]): [string, string] => [name, asText(value, ids)])
  const { payload, type } = await toBytes(recipe.body, ids)
  const headers = { ...sample.headers, ...(type === undefined ? {} : { 'content-type': type }), ...recipe.headers }
  if (type === undefined) delete (headers as Record<string, string>)['content-type']
  return { method, url: addressOf(path, query), headers: clean(headers), ...(payload === undefined ? {} : { payload }) }
}

function partsOf({ url, query, payload }: Sample): Parts {
  const isBytes = Buffer.isBuffer(payload)
  return {
    path: String(url).split('/'),
    query: Object.entries(asObject(query)).map(([name, value]) => [name, String(value)]),
    body: isBytes ? undefined : payload,
    bytes: isBytes ? payload : undefined,
  }
}

function apply(parts: Parts, edit: Edit, route: RouteEntry, ids: ReadonlyMap<Thing, string>): Parts {
  switch (edit.part) {
    case 'path':
      return { ...parts, path: editPath(parts.path, edit, route, ids) }
    case 'query':
      return { ...parts, query: editQuery(parts.query, edit, ids) }
    case 'body':
      if (parts.body !== undefined) return { ...parts, body: editValue(parts.body, edit) }
      return parts.bytes === undefined ? parts : { ...parts, bytes: editForm(parts.bytes, edit, ids) }
    case 'bytes':
      return parts.bytes === undefined ? parts : { ...parts, bytes: editBytes(parts.bytes, edit) }
  }
}

function editPath(path: string[], edit: Edit, route: RouteEntry, ids: ReadonlyMap<Thing, string>): string[] {
  const places = route.url.split('/').flatMap((part, index) => (part.startsWith(':') ? [index] : []))
  const place = places[edit.pick % Math.max(places.length, 1)]
  if (place === undefined) return path
  return path.with(place, encode(asText(edit.value, ids)))
}

function editQuery(query: [string, string][], edit: Edit, ids: ReadonlyMap<Thing, string>): [string, string][] {
  const index = edit.pick % Math.max(query.length, 1)
  const known = query[index]
  const text = asText(edit.value, ids)
  if (known === undefined || edit.action === 'add')
    return [...query, [edit.pick % 2 === 0 ? text.slice(0, 40) : 'q', text]]
  if (edit.action === 'remove') return query.toSpliced(index, 1)
  if (edit.action === 'repeat') return [...query, known]
  // A value that is JSON is changed inside, too.
  const inner = edit.pick % 3 === 0 && /^[[{]/.test(known[1]) ? parsed(known[1]) : undefined
  if (inner !== undefined) return query.with(index, [known[0], toJson(editValue(inner, edit), ids)])
  return query.with(index, [known[0], text])
}

type Place = { holder: Record<string, unknown> | unknown[]; key: string | number }

/** A copy of a JSON value with one place of it changed. */
function editValue(value: unknown, edit: Edit): unknown {
  const root = { value: structuredClone(value) }
  const places: Place[] = [{ holder: root, key: 'value' }]
  for (let i = 0; i < places.length && places.length < 500; i += 1) {
    const { holder, key } = places[i] as Place
    const inner = (holder as Record<string | number, unknown>)[key]
    if (Array.isArray(inner)) for (const index of inner.keys()) places.push({ holder: inner, key: index })
    else if (typeof inner === 'object' && inner !== null)
      for (const name of Object.keys(inner)) places.push({ holder: inner as Record<string, unknown>, key: name })
  }
  const { holder, key } = places[edit.pick % places.length] as Place
  if (Array.isArray(holder)) {
    const index = Number(key)
    if (edit.action === 'remove') holder.splice(index, 1)
    else if (edit.action === 'repeat') holder.splice(index, 0, holder[index])
    else if (edit.action === 'add') holder.push(edit.value)
    else holder[index] = edit.value
    return root.value
  }
  if (edit.action === 'remove' && holder !== root) delete holder[key]
  else if (
    edit.action === 'add' &&
    typeof root.value === 'object' &&
    root.value !== null &&
    !Array.isArray(root.value)
  ) {
    const name = edit.pick % 2 === 0 ? '__proto__' : `unknown_${edit.pick}`
    Object.defineProperty(root.value, name, { value: edit.value, enumerable: true, configurable: true, writable: true })
  } else holder[key] = edit.value
  return root.value
}

/** The part `data` of a form changed like a JSON body; other bytes like bytes. */
function editForm(bytes: Buffer, edit: Edit, ids: ReadonlyMap<Thing, string>): Buffer {
  const text = bytes.toString('latin1')
  const match = /name="data"[^{]*\r\n\r\n(?=\{)/.exec(text)
  const end = match === null ? -1 : text.indexOf('\r\n--', match.index + match[0].length)
  if (match === null || end < 0) return editBytes(bytes, edit)
  const start = match.index + match[0].length
  const known = parsed(bytes.toString('utf8', start, end))
  // An earlier change may have broken it.
  if (known === undefined) return editBytes(bytes, edit)
  const data = toJson(editValue(known, edit), ids)
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(data), bytes.subarray(end)])
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function editBytes(bytes: Buffer, { action, pick }: Edit): Buffer {
  const at = bytes.length === 0 ? 0 : (pick * 7919) % bytes.length
  if (action === 'remove') return bytes.subarray(0, at)
  if (action === 'repeat') return Buffer.concat([bytes, bytes])
  if (action === 'add') return Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n--\0\r\n'), bytes.subarray(at)])
  const copy = Buffer.from(bytes)
  if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ 0xff
  return copy
}

async function toBytes(body: Body, ids: ReadonlyMap<Thing, string>): Promise<{ payload?: Buffer; type?: string }> {
  switch (body.kind) {
    case 'none':
      return {}
    case 'json':
      return { payload: Buffer.from(toJson(body.value, ids)), type: 'application/json' }
    case 'text':
      return { payload: Buffer.from(putThings(body.text, ids)), type: body.type }
    case 'fields': {
      const fields = Object.entries(body.fields).map(([name, value]): [string, string] => [
        name,
        asText(value, ids).toWellFormed(),
      ])
      return { payload: Buffer.from(new URLSearchParams(fields).toString()), type: 'application/x-www-form-urlencoded' }
    }
    case 'form': {
      const files = Array.from({ length: body.files }, (_, n) => ({ name: `file-${n}`, bytes: modJar(`fuzz ${n}`) }))
      const made = await form(JSON.parse(toJson(body.data, ids)), files)
      return { payload: made.payload, type: made.headers['content-type'] }
    }
  }
}

function addressOf(path: string, query: readonly [string, string][]): string {
  if (query.length === 0) return path
  return `${path}?${query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`
}

function asText(value: unknown, ids: ReadonlyMap<Thing, string>): string {
  return typeof value === 'string' ? putThings(value, ids) : toJson(value, ids)
}

function toJson(value: unknown, ids: ReadonlyMap<Thing, string>): string {
  return putThings(JSON.stringify(value) ?? 'null', ids)
}

/** Percent-encoding is left out where a text brings its own. */
function encode(text: string): string {
  return /%[0-9a-f]{2}/i.test(text) ? text.replace(/[^\x21-\x7e]|[?#]/g, '') : encodeURIComponent(text.toWellFormed())
}

/** Headers are bytes of Latin-1 to the client that sends them. */
function clean(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\x20-\x7e]/g, '')]))
}
