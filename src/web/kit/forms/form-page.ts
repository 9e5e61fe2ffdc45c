// Pages with a form: GET shows the page, and POST to the same URL runs the command of the pressed button. After success,
// the browser is led to the page with a notice. After an error, the page is shown again with everything that was entered.
import type { FastifyReply } from 'fastify'
import { ApiError } from '#lib/errors.ts'
import { isOutdated, withoutCache } from '#platform/cache/revisions.ts'
import type { FormErrors } from '#web/ui/parts/fields.ts'
import { nameMissingPermission, translateError } from '#web/ui/refusals.ts'
import type { OwnRequest, PageOptions, Pages } from '../pages.ts'
import { withQuery } from '../paths.ts'
import type { Done } from '../request.ts'
import { requireToken } from '../safety.ts'
import { BASE, type Conflict, EditConflict, editedFields, type Saved, takesTheirs, type Values } from './edits.ts'
import { keepForm, restoredForm, showLostForm } from './lost-input.ts'
import { attempt, errorsOf, type FormRefusal, fieldOf, fieldsOf } from './read-form.ts'

/** The values of a form: as submitted, otherwise the current ones. */
export type FormState = {
  /** Whether the values come from a submitted form. */
  isSubmitted: boolean
  /** Value of a field, with the line breaks that the user typed. */
  text(name: string, current?: string): string
  /** Values of a group of checkboxes or of a multiple choice. */
  list(name: string, current?: readonly string[]): readonly string[]
  /**
   * Returns the fields that the user changed, with their submitted values. `current` has the stored values. Pass their
   * revision to the command that saves the fields: if it is outdated when the command writes, the form is compared again.
   * @throws EditConflict if another user changed one of them since the page was loaded
   */
  edited<Current extends Values>(current: Current): Partial<Current>
  /** Part of the value of the pressed button after the point: `KEY` of `remove.KEY`. */
  argument: string
  /** Fields that another user changed too. */
  conflicts: ReadonlyMap<string, Conflict>
  /** The author and the time of the other change, if the page knows them. */
  saved?: Saved | undefined
  /** Whether the form was stored: while the session had expired, or by a command that leads to the filled form. */
  isRestored: boolean
  refusal: FormRefusal | undefined
  errors: FormErrors
}

/** The next step after a command: leads to a page with a notice, or is the response itself, such as a preview. */
export type Outcome =
  | {
      done?: Done
      /** Path to lead to. Default: the path of the form. */
      path?: string
      /** Values for the query of that page, such as the previous status for Undo. */
      with?: Readonly<Record<string, string>>
      /** ID of the element that the browser scrolls to. */
      fragment?: string
    }
  | FastifyReply

export type FormPage<Data> = Pick<PageOptions, 'shows' | 'api'> & {
  path: string
  /** Operation ID of the page. The form has the suffix `Form`. */
  name: string
  /** Loads what the page shows. @throws ApiError 404 if the user may not see the page */
  load(request: OwnRequest): Promise<Data>
  show(request: OwnRequest, data: Data, form: FormState): Promise<FastifyReply> | FastifyReply
  /** Commands by the value of the button `do`. A form without such a button runs the first command. */
  commands: Readonly<Record<string, (request: OwnRequest, data: Data, form: FormState) => Promise<Outcome>>>
  /** Names of fields at the beginning of error messages: `{ name: 'The name' }`. */
  labels?: Readonly<Record<string, string>> | ((data: Data) => Readonly<Record<string, string>>)
  options?: PageOptions
}

/** Registers the page and its form. */
export function formPage<Data>(pages: Pages, of: FormPage<Data>): void {
  const { shows, api } = of
  pages.own('GET', of.path, of.name, async (request) => showForm(request, of), { ...of.options, shows, api })
  // Read-only mode keeps the entered values: `send` shows the message of the operator with them.
  const options = { whenReadOnly: 'form', ...of.options, checksToken: true, whenSignedOut: keepForm } as const
  pages.own('POST', of.path, `${of.name}Form`, (request) => send(request, of), options)
}

/** The state of a form that was only opened. */
export const EMPTY: FormState = {
  isSubmitted: false,
  text: (_name, current = '') => current,
  list: (_name, current = []) => current,
  edited: () => ({}),
  argument: '',
  conflicts: new Map(),
  isRestored: false,
  refusal: undefined,
  errors: [],
}

/**
 * Returns the state of one of several forms of a page: that of the submitted form, if one of its commands was pressed. A form
 * with fingerprints needs no names of commands. Otherwise, the form shows the stored values.
 */
export function stateOf(state: FormState, commands?: readonly string[]): FormState {
  const [pressed = ''] = state.text('do').split('.')
  const isOwn = commands === undefined ? state.text(BASE) !== '' : commands.includes(pressed)
  return isOwn || !state.isSubmitted ? state : { ...EMPTY, refusal: state.refusal, errors: state.errors }
}

/** Returns the values of a submitted form. */
export function submittedForm(
  body: unknown,
  refusal?: FormRefusal,
  conflicts: FormState['conflicts'] = new Map(),
): FormState {
  // Browsers send line breaks as two characters. Limits count what the user typed.
  const text = (name: string): string => fieldOf(body, name).replaceAll('\r\n', '\n')
  const list = (name: string): readonly string[] => fieldsOf(body, name)
  const submitted = { text, list }
  return {
    isSubmitted: true,
    text: (name, current = '') => (takesTheirs(submitted, name) ? current : text(name)),
    list: (name, current = []) => (takesTheirs(submitted, name) ? current : list(name)),
    edited: (current) => editedFields(submitted, current),
    argument: text('do').split('.').slice(1).join('.'),
    conflicts,
    isRestored: false,
    refusal,
    errors: errorsOf({ refusal }),
  }
}

/** Shows the page. If the URL contains the key of a stored form, the fields contain its values. */
async function showForm<Data>(request: OwnRequest, of: FormPage<Data>): Promise<FastifyReply> {
  const data = await of.load(request)
  const stored = await restoredForm(request)
  return of.show(request, data, stored === undefined ? EMPTY : { ...submittedForm(stored), isRestored: true })
}

type Loaded<Data> = { value: Data; refusal?: never } | { refusal: ApiError; value?: never }

async function loadOrMissing<Data>(request: OwnRequest, of: FormPage<Data>): Promise<Loaded<Data>> {
  try {
    return { value: await of.load(request) }
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not_found') return { refusal: error }
    throw error
  }
}

async function send<Data>(request: OwnRequest, of: FormPage<Data>): Promise<FastifyReply> {
  const { req, page, field } = request
  const { value: data, refusal: missing } = await loadOrMissing(request, of)
  if (missing !== undefined) return showLostForm(request, missing)
  requireToken(req)
  const form = submittedForm(req.body)
  let conflicts: FormState['conflicts'] = new Map()
  const { value, refusal } = await attempt(
    async () => {
      const refused = of.options?.whenReadOnly === 'answers' ? undefined : request.writeRefusal()
      if (refused !== undefined) throw refused
      // The value of a button can contain an argument: `remove.KEY`.
      const [pressed = ''] = field('do').split('.')
      const command = pressed === '' ? Object.values(of.commands)[0] : commandOf(of.commands, pressed)
      if (command === undefined) throw new ApiError('invalid_input', 'The form contains an unknown button')
      return runOnCurrent(
        data,
        (latest) => command(request, latest, form),
        () => of.load(current(request)),
      ).catch((error: unknown) => {
        if (error instanceof EditConflict) conflicts = error.fields
        throw error
      })
    },
    typeof of.labels === 'function' ? of.labels(data) : of.labels,
  )
  if (refusal !== undefined) {
    // Loads again, because the command can have changed a part, or another user the same fields.
    const latest = await loadOrMissing(refusal.status === 409 ? current(request) : request, of)
    if (latest.refusal !== undefined) return showLostForm(request, latest.refusal)
    const shown = nameMissingPermission(page.language, translateError(page.language, refusal))
    return of.show(request, latest.value, submittedForm(req.body, shown, conflicts))
  }
  if (isReply(value)) return value
  const { done, path = page.address.split('?')[0] ?? '', with: values = {}, fragment } = value
  const url = withQuery(path, { done, ...values })
  return request.redirect(fragment === undefined ? url : `${url}#${fragment}`)
}

/** Returns the request with an empty cache: that of this process might not have heard yet of a change. */
const current = (request: OwnRequest): OwnRequest => ({ ...request, deps: withoutCache(request.deps) })

/** Maximum number of times that a command runs while other users change the same resource. */
const RUNS_MAX = 10

/**
 * Runs a command on the loaded data. If the resource has another revision when the command has locked it, the command runs
 * again on the data of the new revision: it compares the form with these values, and saves what it has compared.
 */
async function runOnCurrent<Data, Result>(
  loaded: Data,
  command: (data: Data) => Promise<Result>,
  load: () => Promise<Data>,
): Promise<Result> {
  let data = loaded
  for (let run = 1; ; run += 1) {
    try {
      return await command(data)
    } catch (error) {
      if (!isOutdated(error) || run === RUNS_MAX) throw error
    }
    data = await load()
  }
}

const isReply = (outcome: Outcome): outcome is FastifyReply => 'statusCode' in outcome

function commandOf<Command>(commands: Readonly<Record<string, Command>>, name: string): Command | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined
}
