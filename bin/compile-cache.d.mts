export function isPrivate(folder: string): boolean
