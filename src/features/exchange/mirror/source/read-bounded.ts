/** Returns the body of a response. @throws the error of `tooLarge` if it has more bytes than the limit. */
export async function readBounded(response: Response, bytesMax: number, tooLarge: () => Error): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    // Leaving the loop cancels the body.
    if (size > bytesMax) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces, size)
}
