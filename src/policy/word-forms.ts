import type { Token } from './call-terms.js'

export function tokenText(token: Token): string {
  return token === 'native' ? 'the native currency' : token
}

export function duration(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
  ] as const
  for (const [size, name] of units) {
    if (seconds % size === 0) return count(seconds / size, name)
  }
  return count(seconds, 'second')
}

function count(number: number, name: string): string {
  return number === 1 ? `1 ${name}` : `${number} ${name}s`
}
