export function generateClient(source?: string, target?: string): Promise<void>
