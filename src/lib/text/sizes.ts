// Sizes in bytes, and in messages for people.

export const MIB = 1024 * 1024

/** Formats a size: `500 MiB`, `256 KiB`, `10 bytes`. */
export function describeBytes(bytes: number): string {
  const unit = [MIB, 1024].find((size) => bytes >= size && bytes % size === 0)
  if (unit === undefined) return `${bytes} bytes`
  return `${bytes / unit} ${unit === 1024 ? 'KiB' : 'MiB'}`
}
