// The head of an analytics page: links to periods, the form for days, step and comparison, and the filters of the URL.
import { DAY_MS } from '#lib/time.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, type PageContext, pathTo } from '#web/ui/page-context.ts'
import { checkbox, type FormErrors, hiddenField, selectField, textField } from '#web/ui/parts/fields.ts'
import { segments } from '#web/ui/parts/lists.ts'
import { hrefOf, isoDay, SPANS, STEPS, type Step, type Typed } from './selection.ts'
import type { Subject } from './subject.ts'

/** Links to the periods that end today. */
export function spanLinks(
  page: PageContext,
  subject: Subject,
  { typed, days }: { typed: Typed; days?: number | undefined },
): Markup {
  const { t } = page.language
  const isUntilToday = typed.to === '' || typed.to === isoDay(page.now)
  const items = SPANS.map((span) => ({
    href: pathTo(page, hrefOf(subject.path, typed, { from: isoDay(page.now - (span - 1) * DAY_MS), to: '', step: '' })),
    label: t('numbers.days', { count: span }),
    isCurrent: isUntilToday && days === span,
  }))
  return segments(t('numbers.period'), items)
}

/** Renders the form with the typed values, so that an error loses nothing. `from` and `to`: the selected days. */
export function periodForm(
  page: PageContext,
  subject: Subject,
  of: { typed: Typed; from: string; to: string; errors: FormErrors },
): Markup {
  const { t } = page.language
  const { typed, errors } = of
  const day = (name: 'from' | 'to', value: string) =>
    textField(page, {
      name,
      label: t(`numbers.field.${name}`),
      value: typed[name] || value,
      type: 'date',
      max: isoDay(page.now),
      errors,
    })
  const steps = (Object.keys(STEPS) as Step[]).map((step) => ({
    value: step as string,
    label: t(`numbers.step.${step}`),
    isChosen: typed.step === step,
  }))
  const step = selectField(page, {
    name: 'step',
    label: t('numbers.field.step'),
    choices: [{ value: '', label: t('numbers.step.automatic') }, ...steps],
    errors,
  })
  const hidden = (['m', 'project', 'version', 'by'] as const).map(
    (name) => typed[name] !== '' && hiddenField(name, typed[name]),
  )
  const compare = checkbox({
    name: 'compare',
    value: 'before',
    isChecked: typed.compare === 'before',
    label: t('numbers.compare'),
  })
  return html`<form method="get" action="${pathTo(page, subject.path)}" class="period">${hidden}
${day('from', of.from)}
${day('to', of.to)}
${step}
${compare}
<button>${t('numbers.apply')}</button></form>
${filters(page, subject, typed)}`
}

/** Renders the project and the version that the URL names, each with a link that removes it. */
function filters(page: PageContext, subject: Subject, typed: Typed): Part {
  const { t, rich } = page.language
  const shown: Markup[] = []
  const add = (text: Part, href: string, all: string) =>
    void shown.push(
      html`<p class="only"><span>${text}</span> <a href="${pathTo(page, href)}">${icon(page, 'x')}${all}</a></p>`,
    )
  const name = html`<bdi>${subject.project?.name}</bdi>`
  if (typed.project !== '' && !subject.isOfProject)
    add(
      rich('numbers.only.project', { name }),
      hrefOf(subject.path, typed, { project: '', version: '' }),
      t('numbers.only.all-projects'),
    )
  if (subject.version !== undefined) {
    const number = html`<bdi>${subject.version.version_number}</bdi>`
    add(
      subject.isOfProject || typed.project !== ''
        ? rich('numbers.only.version', { number })
        : rich('numbers.only.version-of', { number, name }),
      hrefOf(subject.path, typed, { version: '' }),
      t('numbers.only.all-versions'),
    )
  }
  return shown
}
