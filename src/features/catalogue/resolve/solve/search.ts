// Depth-first search with conflict-directed backjumping (Prosser 1993): each failure carries the set of earlier decisions
// that caused it, and the search returns to the latest of them. It needs no recursion, so chains can be long.
import { BitSet } from './bit-set.ts'
import type { Clash, Selection } from './selection.ts'
import type { Candidate } from './world.ts'

type Frame = {
  domain: readonly (Candidate | undefined)[]
  next: number
  /** Decisions that exclude candidates of the domain. Created by the first failure. */
  conflict: BitSet | undefined
}

export type SearchOptions = {
  /** Maximum number of choices. The limits end a search only at a dead end. */
  nodesMax: number
  /** Maximum number of dead ends. */
  deadEndsMax: number
  /** Maximum of `Selection.work`. */
  workMax: number
  /** Whether other earlier decisions could satisfy the requirement or add candidates: every one is part of a failure. */
  dependsOnAll: (projectId: string) => boolean
  /** Receives the projects that have no candidate. */
  onLack?: (projectId: string, cause: number) => void
  /** Receives the first clashes, for explanations. */
  onClash?: (clash: Clash) => void
}

export type SearchResult = { isFound: boolean; nodes: number; deadEnds: number; rejected: number }

/** Dependencies that are looked at between two yields: less than a millisecond. */
export const WORK_PER_TURN = 2000

/**
 * Decides every entry of the agenda, beginning with the first undecided one. Decisions before it do not change. The first
 * result is the best one: no earlier entry can have an earlier candidate. If there is none, undoes everything.
 * Yields when other work should have a turn.
 */
export function* search(selection: Selection, options: SearchOptions): Generator<undefined, SearchResult> {
  const base = selection.decisions.length
  const frames: Frame[] = []
  const result = { isFound: false, nodes: 0, deadEnds: 0, rejected: 0 }
  let turnAt = selection.work + WORK_PER_TURN
  for (let frame: Frame | undefined; ; ) {
    if (selection.work > turnAt) {
      yield
      turnAt = selection.work + WORK_PER_TURN
    }
    const position = selection.decisions.length
    const entry = selection.agenda[position]
    if (frame === undefined && entry === undefined) return { ...result, isFound: true }
    if (entry === undefined) throw new Error('A search without an entry of the agenda')
    frame ??= openFrame(selection, entry.projectId, entry.cause)
    if (tryNext(selection, frame, result, options)) {
      result.nodes += 1
      frames.push(frame)
      frame = undefined
    } else {
      result.deadEnds += 1
      const { conflict = new BitSet() } = frame
      if (entry.cause >= 0) conflict.add(entry.cause)
      if (!selection.fixed.has(entry.projectId) && options.dependsOnAll(entry.projectId)) conflict.addBelow(position)
      if (frame.domain.every((candidate) => candidate !== undefined && selection.isDead(candidate)))
        options.onLack?.(entry.projectId, entry.cause)
      const target = conflict.last
      const isOver =
        result.nodes > options.nodesMax || result.deadEnds > options.deadEndsMax || selection.work > options.workMax
      selection.undoTo(Math.max(target, base))
      if (target < base || isOver) {
        selection.undoTo(base)
        return result
      }
      frames.length = target - base + 1
      frame = frames.pop()
      conflict.delete(target)
      if (frame === undefined) throw new Error('A search without a frame')
      if (frame.conflict === undefined) frame.conflict = conflict
      else frame.conflict.addAll(conflict)
    }
  }
}

function openFrame(selection: Selection, projectId: string, cause: number): Frame {
  const isProvided = cause >= 0 && selection.isProvided(projectId)
  return { domain: isProvided ? [undefined] : selection.domainOf(projectId), next: 0, conflict: undefined }
}

/** Places the next candidate that can join. Returns false if no candidate can join. */
function tryNext(
  selection: Selection,
  frame: Frame,
  result: SearchResult,
  { onClash }: Pick<SearchOptions, 'onClash'>,
): boolean {
  while (frame.next < frame.domain.length) {
    const candidate = frame.domain[frame.next]
    frame.next += 1
    if (candidate !== undefined) {
      if (frame.next > 1) result.rejected += 1
      if (selection.isDead(candidate)) {
        selection.work += 1
        continue
      }
      const clash = selection.findClash(candidate)
      if (clash !== undefined) {
        onClash?.(clash)
        if (clash.position >= 0) {
          frame.conflict ??= new BitSet()
          frame.conflict.add(clash.position)
        }
        continue
      }
    }
    selection.place(candidate, frame.domain[0])
    return true
  }
  return false
}
