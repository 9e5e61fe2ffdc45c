// The icon of a project, an organization or a collection: its own form, which is saved immediately.

import { ICON_BYTES_MAX, type IconOwner, replaceIcon, setIcon } from '#features/basics/images/icons.ts'
import type { Deps } from '#ports/deps.ts'
import type { Outcome } from '#web/kit/forms/form-page.ts'
import { uploadedImage } from '#web/kit/forms/read-form.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { fileSize } from '#web/ui/format.ts'
import { html, type Markup } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { type FormErrors, fileField, form } from '#web/ui/parts/fields.ts'
import { sheetPart } from '#web/ui/parts/frame.ts'
import { face } from '#web/ui/parts/lists.ts'

/** Names of the fields in error messages. */
export const ICON_LABELS = { icon: 'The icon', ext: 'The icon' }

/** Returns the commands of the buttons. `ownerOf` returns the resource that has the icon. */
export function iconCommands<Data>(ownerOf: (deps: Deps) => IconOwner, idOf: (data: Data) => string) {
  return {
    icon: async ({ deps, req, viewer }: OwnRequest, data: Data): Promise<Outcome> => {
      const owner = ownerOf(deps)
      const id = await owner.authorize(viewer, idOf(data))
      await setIcon(deps, owner, { id, viewer, ...uploadedImage(req.body) })
      return { done: 'icon' }
    },
    'remove-icon': async ({ deps, viewer }: OwnRequest, data: Data): Promise<Outcome> => {
      const owner = ownerOf(deps)
      await replaceIcon(deps, owner, { id: await owner.authorize(viewer, idOf(data)), viewer, icon: null })
      return { done: 'icon-removed' }
    },
  }
}

export function iconPart(
  page: PageContext,
  { action, name, url, errors }: { action: string; name: string; url: string | null; errors: FormErrors },
): Markup {
  const { t } = page.language
  const hasIcon = url !== null && url !== ''
  const field = fileField(page, {
    name: 'picture',
    label: t('picture.new'),
    hint: t('picture.hint.at-most', { size: fileSize(page.language, ICON_BYTES_MAX) }),
    maxBytes: ICON_BYTES_MAX,
    accept: '.png,.jpg,.jpeg,.gif,.webp,.svg',
    errors: errors.map((error) =>
      error.field === 'icon' || error.field === 'ext' ? { ...error, field: 'picture' } : error,
    ),
  })
  const upload = form(page, {
    action,
    className: 'stack grow',
    hasFile: true,
    content: html`${field}<div class="line"><button name="do" value="icon">${t('picture.set')}</button>${hasIcon && html`<button class="plain" name="do" value="remove-icon" formnovalidate>${t('picture.remove')}</button>`}</div>`,
  })
  const content = html`<div class="row">${face({ name, url, isLarge: true, isSquare: true })}
${upload}</div>`
  return sheetPart({ id: 'icon', title: t('manage.icon'), content })
}
