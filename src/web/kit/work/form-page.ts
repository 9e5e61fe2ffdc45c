// Pages with a form: GET shows the page, and POST to the same URL runs the command of the pressed button. After success,
// the browser is led to the page with a notice. After an error, the page is shown again with everything that was entered.
import type { FastifyReply } from 'fastify'
import { ApiError } from '#lib/errors.ts'
import type { FormErrors } from '#platform/html/forms.ts'
import { attempt, type FormRefusal, fieldOf, fieldsOf } from '../forms.ts'
import type { OwnRequest, PageOptions, Pages } from '../pages.ts'
import { withQuery } from '../paths.ts'
import type { Done } from '../request.ts'

/** The values of a form: as submitted, otherwise the current ones. */
export type FormState = {
  /** Whether the values come from a submitted form. */
  isSubmitted: boolean
  /** Value of a field, with the line breaks that the user typed. */
  text(name: string, current?: string): string
  /** Values of a group of checkboxes or of a multiple choice. */
  list(name: string, current?: readonly string[]): readonly string[]
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
    }
  | FastifyReply

export type FormPage<Data> = {
  path: string
  /** Operation ID of the page. The form has the suffix `Form`. */
  name: string
  /** Loads what the page shows. @throws ApiError 404 if the user may not see the page */
  load(request: OwnRequest): Promise<Data>
  show(request: OwnRequest, data: Data, form: FormState): Promise<FastifyReply> | FastifyReply
  /** Commands by the value of the button `do`. A form without such a button runs the first command. */
  commands: Readonly<Record<string, (request: OwnRequest, data: Data, form: FormState) => Promise<Outcome>>>
  /** Names of fields at the beginning of error messages: `{ name: 'The name' }`. */
  labels?: Readonly<Record<string, string>>
  options?: PageOptions
}

/** Registers the page and its form. */
export function formPage<Data>(pages: Pages, of: FormPage<Data>): void {
  pages.own('GET', of.path, of.name, async (request) => of.show(request, await of.load(request), EMPTY), of.options)
  // Read-only mode keeps the entered values: `send` shows the message of the operator with them.
  const options = { ...of.options, whenReadOnly: 'form' } as const
  pages.own('POST', of.path, `${of.name}Form`, (request) => send(request, of), options)
}

const EMPTY: FormState = {
  isSubmitted: false,
  text: (_name, current = '') => current,
  list: (_name, current = []) => current,
  refusal: undefined,
  errors: [],
}

/** Returns the values of a submitted form. */
export function submittedForm(body: unknown, refusal?: FormRefusal): FormState {
  return {
    isSubmitted: true,
    // Browsers send line breaks as two characters. Limits count what the user typed.
    text: (name) => fieldOf(body, name).replaceAll('\r\n', '\n'),
    list: (name) => fieldsOf(body, name),
    refusal,
    errors: refusal === undefined ? [] : [refusal],
  }
}

async function send<Data>(request: OwnRequest, of: FormPage<Data>): Promise<FastifyReply> {
  const { req, page, field } = request
  const data = await of.load(request)
  const form = submittedForm(req.body)
  const { value, refusal } = await attempt(async () => {
    const readOnly = page.site.readOnly?.(page.language)
    if (readOnly !== undefined) throw new ApiError('service_unavailable', readOnly)
    const pressed = field('do')
    const command = pressed === '' ? Object.values(of.commands)[0] : commandOf(of.commands, pressed)
    if (command === undefined) throw new ApiError('invalid_input', 'The form contains an unknown button')
    return command(request, data, form)
  }, of.labels)
  if (refusal !== undefined) return of.show(request, data, submittedForm(req.body, refusal))
  if (isReply(value)) return value
  const { done, path = page.address.split('?')[0] ?? '', with: values = {} } = value
  return request.redirect(withQuery(path, { done, ...values }))
}

const isReply = (outcome: Outcome): outcome is FastifyReply => 'statusCode' in outcome

function commandOf<Command>(commands: Readonly<Record<string, Command>>, name: string): Command | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined
}

/** Returns the fields whose values differ from the current ones, so that a form changes nothing else. */
export function changedFields<Fields extends object>(current: Fields, next: Fields): Partial<Fields> {
  const changed = Object.entries(next).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name as keyof Fields]),
  )
  return Object.fromEntries(changed) as Partial<Fields>
}
