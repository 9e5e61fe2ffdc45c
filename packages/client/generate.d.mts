export function generateClient(source?: string, target?: string): Promise<void>
export function generateDeclarations(target?: string): void
