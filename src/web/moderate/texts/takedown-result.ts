// A takedown after it was made: the changed parts, Undo, and the files whose content is blocked.

import { isAdmin } from '#features/basics/access/viewer.ts'
import {
  type BlockedFile,
  countBlockedFiles,
  listBlockedFiles,
} from '#features/community/moderation/takedown/blocks.ts'
import { liftBlock } from '#features/community/moderation/takedown/lift-block.ts'
import { mayUndo } from '#features/community/moderation/takedown/policy.ts'
import { getTakedown, type TakedownRow } from '#features/community/moderation/takedown/queries.ts'
import {
  listParts,
  type Part as TakenPart,
  undoTakedown,
} from '#features/community/moderation/takedown/undo-takedown.ts'
import { createConfirmOwner } from '#features/people/accounts/credentials/confirm-owner.ts'
import { endLostAccess } from '#features/people/revocation/end-access.ts'
import { formPage } from '#web/kit/forms/form-page.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { collectionPath, PATHS, pageNumber, reviewPath } from '#web/kit/paths.ts'
import { reasonName } from '#web/site/report.ts'
import { fileSize } from '#web/ui/format.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import { type PageContext, pathTo } from '#web/ui/page-context.ts'
import { buttonForm } from '#web/ui/parts/fields.ts'
import { sheetHead, sheetPart } from '#web/ui/parts/frame.ts'
import { emptyState, note } from '#web/ui/parts/lists.ts'
import { statusOf } from '#web/ui/parts/status.ts'
import { listTable, nameCell } from '#web/ui/parts/tables.ts'
import { moderatedReport, moderatedUser, ROWS, showSection, takedownResult } from '../frame.ts'
import { listPager, offsetOf, pairs, timeOf, userLink } from '../parts.ts'

export const BLOCKED_FILES = `${PATHS.moderationTakedown}/blocked`

type Data = { takedown: TakedownRow; parts: TakenPart[]; blocked: BlockedFile[]; blockedTotal: number }

export function takedownResultPages(pages: Pages): void {
  formPage<Data>(pages, {
    path: `${PATHS.moderationTakedown}/:id`,
    name: 'moderateTakedownResult',
    shows: 'The parts that a takedown changed, with Undo',
    api: 'undoTakedown',
    load: loadTakedown,
    show: showResult,
    commands: {
      undo: async ({ deps, accounts, viewer }, { takedown }) => {
        const confirmOwner = createConfirmOwner(accounts)
        await undoTakedown({ ...deps, endLostAccess, confirmOwner }, viewer, takedown.id)
        return { done: 'takedown-undone', path: takedownResult(takedown.id) }
      },
    },
    options: { role: 'moderator' },
  })
  formPage<undefined>(pages, {
    path: BLOCKED_FILES,
    name: 'moderateBlockedFiles',
    api: 'listBlockedFiles unblockFile',
    load: async () => undefined,
    show: showBlocked,
    commands: {
      lift: async ({ deps, viewer }, _data, form) => {
        await liftBlock(deps, viewer, form.text('hash'))
        return { done: 'block-lifted', path: BLOCKED_FILES }
      },
    },
    options: { role: 'moderator' },
  })
}

async function loadTakedown({ deps, param }: OwnRequest): Promise<Data> {
  const takedown = await getTakedown(deps.db, param('id'))
  return {
    takedown,
    parts: await listParts(deps, takedown),
    blocked: await listBlockedFiles(deps.db, { takedownId: takedown.id, limit: ROWS }),
    blockedTotal: await countBlockedFiles(deps.db, takedown.id),
  }
}

function showResult(request: OwnRequest, data: Data) {
  const { page, query, deps, viewer, t } = request
  const { takedown, parts, blocked, blockedTotal } = data
  const report = query('report')
  const isUndone = takedown.undone !== null
  const undo =
    !isUndone && mayUndo(viewer, takedown, deps.now())
      ? buttonForm(page, {
          action: pathTo(page, takedownResult(takedown.id)),
          text: t('reports.takedown.undo'),
          kind: 'plain',
          fields: { do: 'undo' },
        })
      : null
  const left = parts.filter(({ before, now }) => now !== null && now !== before)
  return showSection(request, {
    section: PATHS.moderationTakedown,
    title: t('reports.takedown.title'),
    notes: isUndone && left.length > 0 && note(page, 'warn', html`<p>${t('reports.takedown.left')}</p>`),
    body: [
      sheetHead({
        title: t('reports.takedown.result'),
        text:
          report !== '' && html`<a href="${pathTo(page, moderatedReport(report))}">${t('reports.takedown.back')}</a>`,
        action: undo,
      }),
      sheetPart({ id: 'about', content: about(page, takedown) }),
      parts.length > 0 &&
        sheetPart({ id: 'parts', title: t('reports.takedown.changed'), content: partsTable(page, data) }),
      sheetPart({
        id: 'blocked',
        title: t('reports.blocked.title'),
        content: html`<p>${t('reports.blocked.count', { count: blockedTotal })} <a href="${pathTo(page, BLOCKED_FILES)}">${t('reports.blocked.all')}</a></p>${blocked.length > 0 && blockedTable(request, blocked)}`,
      }),
    ],
  })
}

function about(page: PageContext, takedown: TakedownRow): Markup {
  const { t } = page.language
  const { actor_id: id, actor_name: username, reason, reference, created, undone } = takedown
  return pairs([
    [t('reports.moderator'), id !== null && username !== null && userLink(page, { id, username })],
    [t('reports.time'), timeOf(page, created)],
    [t('reports.reason'), reasonName(page.language, reason)],
    [t('reports.takedown.reference'), reference !== '' && html`<bdi>${reference}</bdi>`],
    [t('reports.takedown.undone'), undone !== null && timeOf(page, undone)],
  ])
}

function partsTable(page: PageContext, { takedown, parts }: Data): Markup {
  const { t } = page.language
  const shown = ({ kind }: TakenPart, value: string | null): Part =>
    value === null
      ? t('reports.takedown.deleted')
      : kind === 'user'
        ? html`<span dir="auto">${value}</span>`
        : statusOf(page, kind === 'version' ? 'version' : 'project', value)
  return listTable(page, {
    caption: t('reports.takedown.changed'),
    isInner: true,
    columns: [
      { label: t('reports.log.subject') },
      { label: t('reports.takedown.before') },
      { label: t('reports.takedown.now') },
    ],
    rows: parts.map((part) => ({
      cells: [
        nameCell({
          name: html`<a href="${pathTo(page, partPath(part, takedown))}"><bdi>${part.name}</bdi></a>`,
          details: t(`reports.takedown.kind.${part.kind}`),
        }),
        shown(part, part.before),
        shown(part, part.now),
      ],
    })),
  })
}

function partPath({ kind, id }: TakenPart, { before }: TakedownRow): string {
  if (kind === 'user') return moderatedUser(id)
  if (kind === 'collection') return collectionPath(id)
  const project = kind === 'project' ? id : before.versions.find((version) => version.id === id)?.project_id
  return reviewPath(project ?? id)
}

async function showBlocked(request: OwnRequest) {
  const { deps, page, t } = request
  const current = pageNumber(request)
  const total = await countBlockedFiles(deps.db)
  const files = await listBlockedFiles(deps.db, { limit: ROWS, offset: offsetOf(current) })
  return showSection(request, {
    section: PATHS.moderationTakedown,
    title: t('reports.blocked.title'),
    body: [
      sheetHead({ title: t('reports.blocked.title'), text: t('reports.blocked.text') }),
      files.length === 0
        ? emptyState(page, { icon: 'file', title: t('reports.blocked.empty') })
        : blockedTable(request, files),
      listPager(page, { path: BLOCKED_FILES, current, total, query: {} }),
    ],
  })
}

function blockedTable({ page, viewer, t }: OwnRequest, files: readonly BlockedFile[]): Markup {
  const mayLift = isAdmin(viewer)
  return listTable(page, {
    caption: t('reports.blocked.title'),
    columns: [
      { label: t('reports.blocked.file') },
      { label: t('reports.reason'), room: 'mid' },
      { label: t('reports.time'), room: 'far' },
      ...(mayLift ? [{ label: t('reports.blocked.lift'), isAction: true }] : []),
    ],
    rows: files.map(({ sha512, filename, size_bytes, takedown_id, reason, created }) => ({
      cells: [
        nameCell({
          name: html`<a href="${pathTo(page, takedownResult(takedown_id))}"><bdi class="long">${filename}</bdi></a>`,
          details: html`${fileSize(page.language, size_bytes)} · <code class="long">${sha512}</code>`,
        }),
        reasonName(page.language, reason),
        timeOf(page, created),
        ...(mayLift
          ? [
              buttonForm(page, {
                action: pathTo(page, BLOCKED_FILES),
                text: t('reports.blocked.lift'),
                label: t('reports.blocked.lift-one', { name: filename }),
                kind: 'plain',
                fields: { do: 'lift', hash: sha512 },
              }),
            ]
          : []),
      ],
    })),
  })
}
