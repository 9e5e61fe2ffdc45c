// The cursor of the change feed: the epoch and the number of the last change that a reader has, and, in a first walk, the
// newest number when the walk began.

export type Cursor = {
  epoch: string
  /** 0 before the first change. */
  number: bigint
  /** In a walk from the start: the newest number when it began. Removals up to it do not concern the reader. */
  walkedFrom?: bigint | undefined
}

const NUMBER = '(0|[1-9][0-9]{0,15})'
export const CURSOR_PATTERN = `^([0-9A-Za-z]{8})-${NUMBER}(?:\\.${NUMBER})?$`
const CURSOR = new RegExp(CURSOR_PATTERN)

/** Returns undefined for a text that is not a cursor. */
export function parseCursor(text: string): Cursor | undefined {
  const [, epoch, number, walkedFrom] = CURSOR.exec(text) ?? []
  if (epoch === undefined || number === undefined) return undefined
  return { epoch, number: BigInt(number), walkedFrom: walkedFrom === undefined ? undefined : BigInt(walkedFrom) }
}

/** A walk that has reached the number at which it began continues as any other reader. */
export function formatCursor({ epoch, number, walkedFrom }: Cursor): string {
  const isWalking = walkedFrom !== undefined && number < walkedFrom
  return `${epoch}-${number}${isWalking ? `.${walkedFrom}` : ''}`
}
