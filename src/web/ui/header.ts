// The header of every page: the name of the instance, the search, and the links and menu of the account.
import { attributes, html, type Markup, type Part } from './html.ts'
import type { IconName } from './icons.ts'
import type { MessageKey } from './languages.ts'
import { icon, type PageContext, pathTo, type SiteLink } from './page-context.ts'
import { csrfField } from './parts/fields.ts'
import { face } from './parts/lists.ts'

const UNREAD_SHOWN_MAX = 99

/** Renders the header: name, search, and links for the account. */
export function header(context: PageContext, { isWork = false }: { isWork?: boolean }): Markup {
  const { site, language } = context
  const { navigation = [] } = site
  return html`<header class="page bar">
<a class="brand" href="${pathTo(context, site.paths.home)}">${brandMark(context)}<span>${site.name}</span></a>
${site.search !== undefined && searchForm(context, site.search, isWork)}
<nav aria-label="${language.t('layout.account')}"><ul>
${navigation.map(
  (link) => html`<li class="wide">${linkTo(context, link)}</li>
`,
)}${context.personal(accountPart)}
</ul></nav>
</header>`
}

const accountPart = (context: PageContext): Part =>
  context.account === undefined ? signInLinks(context) : accountLinks(context, context.account)

function brandMark(context: PageContext): Markup {
  const { mark } = context.site
  if (mark === undefined) return icon(context, 'package')
  return html`<img src="${mark.url}" alt="" width="28" height="28">`
}

function searchForm(
  context: PageContext,
  { action, suggestions, projectCount }: NonNullable<PageContext['site']['search']>,
  isWork: boolean,
): Markup {
  const { language } = context
  // Pages for publishers, moderators and operators use `q` for their own searches.
  const typed = isWork ? '' : (URL.parse(context.address, 'http://local')?.searchParams.get('q') ?? '').slice(0, 256)
  const placeholder =
    projectCount === undefined
      ? language.t('layout.search')
      : language.t('layout.search-count', { count: projectCount })
  return html`<search><form class="find" action="${pathTo(context, action)}">${icon(context, 'search')}<label class="vh" for="q">${language.t('layout.search')}</label><input type="search" id="q" name="q" placeholder="${placeholder}" maxlength="256" autocomplete="off"${attributes({ value: typed === '' ? null : typed, 'data-suggest': pathTo(context, suggestions), 'data-label': language.t('layout.suggestions') })}><kbd aria-hidden="true">/</kbd></form></search>`
}

function publishLink(context: PageContext): Part {
  const { work } = context.site.paths
  return (
    work !== undefined &&
    html`<li class="wide"><a href="${pathTo(context, work.publish)}">${icon(context, 'plus')}${context.language.t('layout.publish')}</a></li>
`
  )
}

function signInLinks(context: PageContext): Markup {
  const { site, language } = context
  // After sign-in, the account pages come first anyway.
  const back = context.address.startsWith('/account') ? '' : `?return=${encodeURIComponent(context.address)}`
  // These pages link to sign-up themselves.
  const signUp = context.address.startsWith('/account') ? undefined : site.paths.signUp
  return html`${publishLink(context)}<li><a href="${pathTo(context, site.paths.signIn)}${back}">${icon(context, 'user')}${language.t('layout.sign-in')}</a></li>${
    signUp !== undefined &&
    html`
<li><a class="button" href="${pathTo(context, signUp)}${back}">${language.t('sign-up')}</a></li>`
  }`
}

function accountLinks(context: PageContext, account: NonNullable<PageContext['account']>): Markup {
  const { site, language } = context
  const { work } = site.paths
  const links: Part[] = [
    work !== undefined && [
      menuLink(context, `/user/${encodeURIComponent(account.username)}`, 'user', 'layout.profile'),
      menuLink(context, work.dashboard, 'dashboard', 'layout.dashboard'),
      menuLink(context, work.publish, 'plus', 'layout.publish'),
      menuLink(context, work.notifications, 'bell', 'layout.notifications'),
      menuLink(context, work.follows, 'heart', 'layout.follows'),
      menuLink(context, work.collections, 'bookmark', 'layout.collections'),
      menuLink(context, work.packs, 'package', 'layout.packs'),
    ],
    work !== undefined &&
      account.role !== 'developer' &&
      menuLink(context, work.moderation, 'gavel', 'layout.moderation'),
    work !== undefined && account.role === 'admin' && menuLink(context, work.operator, 'monitor', 'layout.operator'),
    menuLink(context, site.paths.account, 'cog', 'layout.settings'),
  ]
  return html`${publishLink(context)}${unreadLink(context)}<li><details class="menu"><summary class="own">${face({ name: account.username, url: account.avatar_url })}<span class="name">${account.username}</span></summary>
<ul>${links}
<li><form method="post" action="${pathTo(context, site.paths.signOut)}">${csrfField(context)}<button>${icon(context, 'sign-out')}${language.t('layout.sign-out')}</button></form></li></ul></details></li>`
}

/** The symbol is shown in narrow windows too, where the menu is closed. */
function unreadLink({ unread = 0, ...context }: PageContext): Part {
  const { work } = context.site.paths
  if (work === undefined) return null
  const label = context.language.t('layout.unread', { count: unread })
  const number = unread > UNREAD_SHOWN_MAX ? `${UNREAD_SHOWN_MAX}+` : unread
  return html`<li><a class="bell" href="${pathTo(context, work.notifications)}" title="${label}">${icon(context, 'bell')}<span class="vh">${label}</span>${unread > 0 && html`<span class="n" aria-hidden="true">${number}</span>`}</a></li>
`
}

function menuLink(context: PageContext, path: string, name: IconName, label: MessageKey): Markup {
  return html`
<li><a href="${pathTo(context, path)}">${icon(context, name)}${context.language.t(label)}</a></li>`
}

export function linkTo(context: PageContext, { path, label, icon: name }: SiteLink): Markup {
  const href = path.startsWith('/') ? pathTo(context, path) : path
  return html`<a href="${href}">${name !== undefined && icon(context, name)}${label(context.language)}</a>`
}
