import { median } from './figures.js'

/** A figure, or figures by name, nested to any depth. Text is the same in all rounds. */
export type Figure = number | string | FigureTree
export interface FigureTree {
  readonly [name: string]: Figure
}

/**
 * The median over rounds, field by field. A field that some rounds lack, such as an error that
 * occurred once, counts as zero there.
 */
export function medianOfRounds<T extends object>(rounds: readonly T[]): T {
  return middle(rounds as readonly unknown[] as readonly FigureTree[]) as unknown as T
}

function middle(rounds: readonly (Figure | undefined)[]): Figure {
  const said = rounds.filter((it) => it !== undefined)
  const [first] = said
  if (typeof first === 'string') return first
  if (typeof first === 'number' || first === undefined) {
    return median(rounds.map((it) => (typeof it === 'number' ? it : 0)))
  }
  const names = new Set(said.flatMap((it) => (typeof it === 'object' ? Object.keys(it) : [])))
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      middle(rounds.map((it) => (typeof it === 'object' ? it[name] : undefined))),
    ]),
  )
}
