/** The form of a value on the wire as plain data, from which `src/api` makes its schema. */
export type WireForm = {
  /** A description for documents. */
  readonly note?: string
  readonly isOptional?: true
} & (
  | { readonly kind: 'text' | 'number' | 'boolean' }
  | { readonly kind: 'option'; readonly options: readonly string[] }
  | { readonly kind: 'list'; readonly of: WireForm }
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, WireForm>> }
  | { readonly kind: 'either'; readonly of: readonly WireForm[] }
)

export const TEXT: WireForm = { kind: 'text' }
export const NUMBER: WireForm = { kind: 'number' }
export const ADDRESS: WireForm = { kind: 'text', note: 'an address, in any case' }
export const TOKEN: WireForm = { kind: 'text', note: 'an address, or "native"' }
export const AMOUNT: WireForm = { kind: 'text', note: 'smallest units, a decimal string' }
export const WEI: WireForm = { kind: 'text', note: 'wei, a decimal string' }
export const USD: WireForm = { kind: 'text', note: 'USD, a decimal string' }
export const PER_SECONDS: WireForm = {
  kind: 'number',
  note: 'a sliding time, seconds, up to 31 days',
}

export function optional(form: WireForm): WireForm {
  return { ...form, isOptional: true }
}

export function listForm(of: WireForm, note?: string): WireForm {
  return { kind: 'list', of, ...(note === undefined ? {} : { note }) }
}
