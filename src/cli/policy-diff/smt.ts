/** Terms of SMT-LIB 2 as text, simplified when their value is known. */
export type Term = string

export const TRUE = 'true'
export const FALSE = 'false'

export function not(term: Term): Term {
  if (term === TRUE) return FALSE
  return term === FALSE ? TRUE : `(not ${term})`
}

export function and(...terms: readonly Term[]): Term {
  const open = terms.filter((term) => term !== TRUE)
  if (open.includes(FALSE)) return FALSE
  return open.length > 1 ? `(and ${open.join(' ')})` : (open[0] ?? TRUE)
}

export function or(...terms: readonly Term[]): Term {
  const open = terms.filter((term) => term !== FALSE)
  if (open.includes(TRUE)) return TRUE
  return open.length > 1 ? `(or ${open.join(' ')})` : (open[0] ?? FALSE)
}

export function ite(condition: Term, then: Term, otherwise: Term): Term {
  if (condition === TRUE || then === otherwise) return then
  return condition === FALSE ? otherwise : `(ite ${condition} ${then} ${otherwise})`
}

export function int(value: bigint | number): Term {
  return value < 0 ? `(- ${-BigInt(value)})` : String(value)
}

export function equal(one: Term, other: Term): Term {
  return one === other ? TRUE : `(= ${one} ${other})`
}

export function isIn(term: Term, values: readonly (bigint | number)[]): Term {
  return or(...values.map((value) => equal(term, int(value))))
}

export function atMost(term: Term, bound: Term): Term {
  return `(<= ${term} ${bound})`
}

export function below(term: Term, bound: Term): Term {
  return `(< ${term} ${bound})`
}

export function sum(one: Term, other: Term): Term {
  return other === '0' ? one : `(+ ${one} ${other})`
}

/** Returns the greatest value whose condition holds; 0 when no condition does. */
export function greatestOf(
  values: readonly { readonly when: Term; readonly value: number }[],
): Term {
  return [...values]
    .sort((a, b) => a.value - b.value)
    .reduce((rest, { when, value }) => ite(when, int(value), rest), '0')
}

export interface Named {
  readonly name: Term
  readonly sort: 'Bool' | 'Int'
  readonly term: Term
}

/** Names a term, so that other terms can use it many times in little text. */
export function definition({ name, sort, term }: Named): string {
  return `(define-fun ${name} () ${sort} ${term})`
}

export function assertion(term: Term): string {
  return `(assert ${term})`
}

/** @param text `define-fun`s of integers and booleans */
export function readModel(text: string): ReadonlyMap<string, bigint> {
  const found = new Map<string, bigint>()
  for (const [, name, negative, positive] of text.matchAll(
    /\(define-fun (\S+) \(\) \w+\s+(?:\(- (\d+)\)|(\d+|true|false))\)/g,
  )) {
    const value = negative === undefined ? numberIn(positive ?? '0') : -BigInt(negative)
    found.set(name ?? '', value)
  }
  return found
}

function numberIn(text: string): bigint {
  if (text === TRUE) return 1n
  return text === FALSE ? 0n : BigInt(text)
}
