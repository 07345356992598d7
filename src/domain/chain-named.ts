/** Finds a chain by the name that people type: `Base`, `bnb-chain`, `BNB Chain` or `bnb`. */

interface Named {
  readonly id: number
  readonly name: string
}

/**
 * @param text the whole name or its first word, in any case, with or without spaces and hyphens
 * @returns null when no chain of the list has that name
 */
export function chainNamed<C extends Named>(chains: readonly C[], text: string): C | null {
  const wanted = letters(text)
  return (
    chains.find(({ name }) => letters(name) === wanted) ??
    chains.find(({ name }) => letters(name.split(' ')[0] ?? '') === wanted) ??
    null
  )
}

function letters(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, '')
}
