// The bar that states who is handling a project or a report, and until when. The script loads it again when the claim ends.
import type { ClaimRow } from '#features/catalogue/reviews/claim-view.ts'
import { MINUTE_MS } from '#lib/time.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { attributes, html, type Markup, type Part } from '#web/ui/html.ts'
import { icon, pathTo } from '#web/ui/page-context.ts'
import { form } from '#web/ui/parts/fields.ts'

type Claim = Omit<ClaimRow, 'claimed_until'> & { claimed_until: string | Date }

const TEXTS = {
  project: { none: 'moderate.claim.none', other: 'moderate.claim.other', own: 'moderate.claim.own' },
  report: { none: 'reports.claim.none', other: 'reports.claim.other', own: 'reports.claim.own' },
} as const

export function claimBar(
  { page, viewer }: OwnRequest,
  of: {
    /** Path of the page, whose form has the commands `claim` and `release`. */
    path: string
    claim: Claim | null
    kind: keyof typeof TEXTS
    hadClaim?: boolean
    /** Reason that keeps the viewer from claiming. */
    refusal?: string | undefined
  },
): Markup {
  const { language, now } = page
  const { t, rich } = language
  const { claim, path, hadClaim = false } = of
  const texts = TEXTS[of.kind]
  const bar = (text: Part, buttons?: Part, more?: { className?: string; left?: number }) => {
    const classes = ['claim', more?.className].filter(Boolean).join(' ')
    return html`<div${attributes({ class: classes, id: 'claim', 'data-left': more?.left })}>${icon(page, 'hand')}<span>${text}</span>${buttons !== undefined && html`<div class="line">${buttons}</div>`}</div>`
  }
  const button = (command: string, text: Part, hotkey?: string) => {
    const more = attributes({ class: 'tight', name: 'do', value: command, 'data-key': hotkey })
    return form(page, {
      action: pathTo(page, path),
      content: html`<button${more}>${text}${hotkey !== undefined && html` <kbd class="hotkey" aria-hidden="true">${hotkey.toUpperCase()}</kbd>`}</button>`,
    })
  }
  if (of.refusal !== undefined) return bar(of.refusal)
  if (claim === null) {
    const text = hadClaim ? html`<b>${t('moderate.claim.expired')}</b> ${t('moderate.claim.still')}` : t(texts.none)
    return bar(text, button('claim', t('moderate.claim'), 't'), hadClaim ? { className: 'late' } : {})
  }
  const leftMs = Math.max(0, new Date(claim.claimed_until).getTime() - now)
  const minutes = Math.ceil(leftMs / MINUTE_MS)
  if (claim.id !== viewer.id) return bar(rich(texts.other, { name: html`<bdi>${claim.username}</bdi>`, minutes }))
  const buttons = html`${button('claim', t('moderate.claim.extend'))}${button('release', t('moderate.claim.release'), 'u')}`
  return bar(t(texts.own, { minutes }), buttons, { left: Math.ceil(leftMs / 1000) })
}
