// The fields of a takedown that its page and the page of a report share: the visibility, and the block of files.
import { isBlockable, type TakedownKind, VISIBILITIES_OF } from '#features/community/moderation/takedown/requests.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import type { Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { optionCards } from '#web/ui/parts/choices.ts'
import { checkbox } from '#web/ui/parts/fields.ts'

/** The first visibility is the default. */
export function takedownFields({ language: { t } }: PageContext, kind: TakedownKind, state: FormState): Part[] {
  const [first, ...others] = VISIBILITIES_OF[kind]
  const options = [first, ...others]
  const chosen = options.find((each) => each === state.text('visibility')) ?? first
  return [
    optionCards({
      legend: t('reports.takedown.visibility'),
      name: 'visibility',
      options: options.map((value) => ({
        value,
        label: t(`reports.takedown.visibility.${value}`),
        text: t(`reports.takedown.visibility.${value}.text`),
        isChosen: value === chosen,
      })),
    }),
    isBlockable(kind) &&
      checkbox({
        name: 'block_files',
        value: 'true',
        isChecked: !state.isSubmitted || state.text('block_files') === 'true',
        label: t('reports.takedown.block'),
        hint: t('reports.takedown.block.hint'),
      }),
  ]
}
