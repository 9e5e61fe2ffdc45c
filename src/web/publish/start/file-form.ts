// Draws the form that begins a project with a file. It works without scripts.

import { FILE_BYTES_MAX } from '#features/catalogue/versions/publish/prepare-files.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import { fileField, form, selectField } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { wholeMebibytes } from '../version/form/receive-form.ts'

export const FILE_PATH = `${PATHS.newProject}/file`

type Organizations = readonly { id: string; name: string }[]

export function fileForm(
  request: OwnRequest,
  { organizations }: { organizations: Organizations },
  state: FormState,
): Markup {
  const { page, deps, t } = request
  // A plain field: without scripts, it is the only one that shows the name of the chosen file.
  const content = html`${fileField(page, {
    name: 'files',
    label: t('publish.file.label'),
    hint: t('publish.file.limit', { limit: wholeMebibytes(FILE_BYTES_MAX) }),
    accept: Object.keys(deps.fileRules.extensions)
      .map((extension) => `.${extension}`)
      .join(','),
    errors: state.errors,
  })}
${ownerField(request, organizations, { name: 'owner', state })}
<div class="line"><button class="main">${t('publish.file.create')}</button></div>`
  return sheetPart({
    id: 'file',
    title: t('publish.file.title'),
    text: t('publish.file.text'),
    content: form(page, { action: pathTo(page, FILE_PATH), className: 'stack', hasFile: true, content }),
  })
}

/** Renders the field for the owner of the project: the user or an organization. */
export function ownerField(
  { page, t }: OwnRequest,
  organizations: Organizations,
  { name, state }: { name: string; state: FormState },
): Part {
  if (organizations.length === 0) return false
  const choices = [{ id: '', name: t('publish.new.owner-self') }, ...organizations]
  return selectField(page, {
    name,
    label: t('publish.new.owner'),
    errors: state.errors,
    choices: choices.map(({ id, name: label }) => ({ value: id, label, isChosen: state.text(name) === id })),
  })
}
