// Types and helpers of samples.test.ts of the features. SAMPLES has a request for each operation that needs more than its
// path. DECLARED has, for each field that a create or an edit declares, a value that the resource does not have before, and
// the place in the view that shows the value.

import { newId } from '#lib/ids.ts'
import { DAY_MS } from '#lib/time.ts'
import { type Form, type FormFile, modJar, PNG } from '#test/support/http/forms.ts'
import type { Role, Thing, World } from './world.ts'

type Given<T> = T | ((world: World) => T | Promise<T>)

export type Sample = {
  /** The resource or string for a path parameter. Default: that of the segment before (`THING_AFTER` in requests.ts). */
  at?: Record<string, Thing | ((world: World) => string | Promise<string>)>
  query?: Given<Record<string, string>>
  /** A JSON body. */
  body?: Given<object>
  /** A body that is not JSON, with its content type. */
  raw?: Given<Form>
  headers?: Record<string, string>
  /** Resources that exist before the request, so that the example of its response is not empty. */
  shows?: Thing[]
  /** Brings the world into the state that the request needs. */
  before?: (world: World) => Promise<unknown>
}

export type FieldSample = {
  /** The sent value. */
  send: Given<unknown>
  /** Dotted path of the field in the view. Default: the name of the field. */
  at?: string
  /** The expected value in the view. Default: the sent value. */
  shows?: Given<unknown>
  /** Other fields that the request needs. */
  needs?: Given<Record<string, unknown>>
  /** The sender, if it is not the default user of the operation. */
  by?: Role
  /** Files that come with it, in a form. */
  files?: () => FormFile[]
  /** Another address and view, where the field belongs to another kind of thing. */
  url?: (world: World) => Promise<string>
  view?: Declared['view']
  before?: (world: World) => Promise<unknown>
}

export type Declared = {
  /** The sender and reader. Default: the owner. */
  by?: Role | 'operator'
  /** Reads the thing as the sender; `answer` is what a create has answered. */
  view: (read: (path: string) => Promise<unknown>, world: World, answer: Record<string, unknown>) => unknown
  fields?: Record<string, FieldSample>
  /** Fields that no view shows, each with the reason. */
  unseen?: Record<string, string>
  /** For a create request that is sent as a form: its description and the files of every request. */
  form?: { data: (world: World) => Promise<Record<string, unknown>>; files: () => FormFile[] }
}

/** Reasons for `unseen`. */
export const PROOF = { password: 'proves who sends it', code: 'proves who sends it' }
export const PICTURE = 'selects the decoder; the view shows the image'
export const NAMES = 'names the things that are changed'
export const ATTACHED = 'attaches images to the text; attached-images.test.ts covers them'
export const ONCE = 'recognises a report that is sent twice'
export const DRY_RUN = 'stores nothing; dry-run.test.ts sends it'

export const picture: Form = { payload: PNG, headers: { 'content-type': 'image/png' } }
export const icon: Sample = { query: { ext: 'png' }, raw: picture }
export const jar = (name: string): FormFile => ({ name, bytes: modJar(newId()) })
export const slug = (): string => `lantern-${newId().toLowerCase()}`
export const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString()

export const thing = (name: Thing) => (world: World) => world.id(name)
export const at = (name: Thing): Sample => ({ at: { id: name } })
/** Lists the resources of the world of this name. */
export const shows = (name: Thing): Sample => ({ shows: [name] })
export const ids = (name: Thing): Sample => ({ query: async (w) => ({ ids: JSON.stringify([await w.id(name)]) }) })
export const send = (value: Given<unknown>, more: Omit<FieldSample, 'send'> = {}): FieldSample => ({
  send: value,
  ...more,
})

/** The view of the thing that the path names. */
export const viewAt =
  (path: string, name: Thing): Declared['view'] =>
  async (read, world) =>
    read(`${path}/${await world.id(name)}`)
/** Returns the view of the created resource. */
export const made =
  (path: string): Declared['view'] =>
  (read, _world, { id }) =>
    read(`${path}/${id}`)
/** The entry of a list with this ID. */
export const entry =
  (path: string, name?: Thing): Declared['view'] =>
  async (read, world, answer) => {
    const wanted = name === undefined ? answer['id'] : await world.id(name)
    return ((await read(path)) as { id: string }[]).find((each) => each.id === wanted)
  }
export const ownUser: Declared['view'] = (read) => read('/v3/user')
/** Returns the response as the view, for resources without a URL. */
export const theAnswer: Declared['view'] = (_read, _world, answer) => answer
