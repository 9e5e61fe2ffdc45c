// Commands of operators that are confirmed: the first time, a page with the consequences repeats the fields of the form.
import { fieldsToKeep } from '#features/basics/stored-forms/stored-forms.ts'
import type { FormState, Outcome } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import type { Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { confirmation } from '#web/ui/parts/actions.ts'
import { hiddenField } from '#web/ui/parts/fields.ts'

type Command<Data> = (request: OwnRequest, data: Data, form: FormState) => Promise<Outcome>

type Asked = { title: string; consequences: readonly Part[]; button: string; isDanger?: boolean }

/** Returns a command that runs `run` when the operator has confirmed the page that `ask` describes. */
export function confirmFirst<Data>(
  ask: (request: OwnRequest, data: Data, form: FormState) => Asked | Promise<Asked>,
  run: Command<Data>,
): Command<Data> {
  return async (request, data, form) => {
    if (form.text('confirmed') === 'yes') return run(request, data, form)
    const { page, req, field, show } = request
    const { title, consequences, ...of } = await ask(request, data, form)
    const sent = Object.entries(fieldsToKeep(req.body)).flatMap(([name, value]) =>
      [value].flat().map((text) => hiddenField(name, text)),
    )
    const path = pathTo(page, page.address.split('?')[0] ?? '')
    const body = confirmation(page, {
      ...of,
      title,
      consequences: [...consequences, page.language.t('operate.recorded')],
      action: path,
      cancel: path,
      fields: [sent, hiddenField('confirmed', 'yes')],
      command: field('do'),
    })
    return show({ title, body })
  }
}
