// Confirmation of commands: a page states the consequences, and its form sends the command.
import type { FastifyReply } from 'fastify'
import { fieldsToKeep } from '#features/basics/stored-forms/stored-forms.ts'
import { html, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { type Confirmation, confirmation } from '#web/ui/parts/actions.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'
import type { OwnRequest } from '../pages.ts'
import { EMPTY, type FormState, type Outcome } from './form-page.ts'

type Question = Omit<Confirmation, 'action' | 'cancel' | 'errors'> & {
  /** Path of the form. Default: the path of the request */
  path?: string
  /** Path of Cancel. Default: the path of the form */
  cancel?: string
  /** Content below the form. */
  below?: Part
}

/** Shows the page that confirms a command. */
export function showConfirmation(
  request: OwnRequest,
  { path, cancel, below, ...of }: Question,
  { errors, refusal }: Pick<FormState, 'errors' | 'refusal'> = EMPTY,
): FastifyReply {
  const { page } = request
  const own = page.address.split('?')[0] ?? ''
  const question = confirmation(page, {
    ...of,
    action: pathTo(page, path ?? own),
    cancel: pathTo(page, cancel ?? path ?? own),
    errors,
  })
  return request.show({ title: of.title, body: html`${question}${below}`, refusal })
}

/** Repeats the submitted fields, except secrets and the pressed button. */
export const sentFields = ({ req }: OwnRequest): Part =>
  Object.entries(fieldsToKeep(req.body)).flatMap(([name, value]) =>
    [value].flat().map((text) => hiddenField(name, text)),
  )

type Command<Data> = (request: OwnRequest, data: Data, form: FormState) => Promise<Outcome>

/** Returns a command that first shows the page that `ask` describes. Its form repeats the fields, and runs `run`. */
export function confirmFirst<Data>(
  ask: (request: OwnRequest, data: Data, form: FormState) => Question | Promise<Question>,
  run: Command<Data>,
): Command<Data> {
  return async (request, data, form) => {
    if (form.text('confirmed') === 'yes') return run(request, data, form)
    const { fields, ...of } = await ask(request, data, form)
    const command = request.field('do')
    return showConfirmation(request, {
      ...of,
      command,
      fields: [fields, sentFields(request), hiddenField('confirmed', 'yes')],
    })
  }
}
