import { CHAIN_IDS } from './chains.js'
import { CALL_POLICY, CHAINS, choice, flag, type PolicyForm, USD_CAP } from './key-policy-forms.js'

/**
 * What an API key may do, with a row for each field. The console's requests and answers, the
 * statement that a user's approver device signs and its description, what counts as an enlargement,
 * the audit trail and the identity provider's record of a grant all follow from these rows; the
 * effect of a field on a call is defined where calls are judged. Both domains read the rows, and
 * each judges by itself.
 *
 * New fields are added at the end: the order of the rows is that of the bytes in the grant.
 */
const ROWS = {
  permission: {
    wire: 'permission',
    title: 'May',
    form: choice({ read: 'read', trade: 'read, and send transactions' }),
    initial: 'read',
    atCreation: 'required',
    afterwards: 'fixed',
    grantForm: 1,
  },
  dailyLimitMicros: {
    wire: 'daily_limit_usd',
    title: 'A day',
    form: USD_CAP,
    initial: null,
    atCreation: 'required',
    afterwards: 'changeable',
    grantForm: 1,
  },
  monthlyLimitMicros: {
    wire: 'monthly_limit_usd',
    title: 'A month',
    form: USD_CAP,
    initial: null,
    atCreation: 'required',
    afterwards: 'changeable',
    grantForm: 1,
  },
  allowedChains: {
    wire: 'allowed_chains',
    title: 'Chains',
    form: CHAINS,
    initial: CHAIN_IDS,
    atCreation: 'optional',
    afterwards: 'changeable',
    grantForm: 1,
  },
  unpricedAssets: {
    wire: 'unpriced_assets',
    title: 'Assets without a price',
    form: choice({ deny: 'refused', allow: 'allowed, uncapped' }),
    initial: 'deny',
    atCreation: 'optional',
    afterwards: 'changeable',
    grantForm: 1,
  },
  duplicateGuard: {
    wire: 'duplicate_guard',
    title: 'The same call twice',
    form: choice({ off: 'sent again', on: 'asked about' }),
    initial: 'off',
    atCreation: 'optional',
    afterwards: 'changeable',
    grantForm: null,
  },
  policy: {
    wire: 'policy',
    title: 'Calls',
    form: CALL_POLICY,
    initial: null,
    atCreation: 'optional',
    afterwards: 'changeable',
    grantForm: 2,
  },
  mayDelegate: {
    wire: 'may_delegate',
    title: 'Keys of its own',
    form: flag({ no: 'makes none', yes: 'makes some, each within what it may do itself' }),
    initial: false,
    atCreation: 'optional',
    afterwards: 'changeable',
    grantForm: 3,
  },
} as const satisfies Readonly<Record<string, Row>>

interface Row {
  /** The field's name in requests, answers and the audit trail. */
  readonly wire: string
  /** The field's line in the description that people confirm. */
  readonly title: string
  readonly form: AnyForm
  /** The value of a key for which none was given, and of grants that predate the field. */
  readonly initial: unknown
  readonly atCreation: 'required' | 'optional'
  readonly afterwards: 'changeable' | 'fixed'
  /**
   * The first form of the grant statement that has the field: a new form has the highest number, so
   * that earlier statements are read as they were signed. Null for fields that only the service
   * keeps; their changes never enlarge.
   */
  readonly grantForm: number | null
}

type AnyForm = PolicyForm<string, unknown, unknown>
type Rows = typeof ROWS
type ValueOf<Form extends AnyForm> = Form['least']
type WireOf<Form extends AnyForm> = ReturnType<Form['toWire']>
type NamesWhere<Which> = {
  [Name in KeyPolicyName]: Rows[Name] extends Which ? Name : never
}[KeyPolicyName]

export type KeyPolicyName = keyof Rows
export type KeyPolicyRows = Rows
/** The fields that both domains hold and the user confirms. */
export type GrantedName = NamesWhere<{ grantForm: number }>
export type ChangeableName = NamesWhere<{ afterwards: 'changeable' }>
export type WireName<Name extends KeyPolicyName> = Rows[Name]['wire']

export type KeyPolicy = { readonly [Name in KeyPolicyName]: ValueOf<Rows[Name]['form']> }
export type GrantedPolicy = Pick<KeyPolicy, GrantedName>
type KeyPolicyWire = {
  [Name in KeyPolicyName as WireName<Name>]: WireOf<Rows[Name]['form']>
}
/** The fields of a request; an absent field stays, or gets its initial value. */
type GivenWire = { readonly [Name in keyof KeyPolicyWire]?: KeyPolicyWire[Name] | undefined }

export interface KeyPolicyField<Name extends KeyPolicyName = KeyPolicyName> extends Row {
  readonly name: Name
}

export const KEY_POLICY: Rows = ROWS

export const KEY_POLICY_FIELDS: readonly KeyPolicyField[] = Object.entries(ROWS).map(
  ([name, row]) => ({ name: name as KeyPolicyName, ...row }),
)

export const INITIAL_POLICY = Object.fromEntries(
  KEY_POLICY_FIELDS.map(({ name, initial }) => [name, initial]),
) as KeyPolicy

/** @returns the fields that the request names */
export function givenPolicy(input: GivenWire): Partial<KeyPolicy> {
  const given: [KeyPolicyName, unknown][] = []
  for (const { name, wire, form } of KEY_POLICY_FIELDS) {
    const value = input[wire as keyof GivenWire]
    if (value !== undefined) given.push([name, form.fromWire(value)])
  }
  return Object.fromEntries(given)
}

export function policyWire(policy: KeyPolicy): KeyPolicyWire {
  const shown = KEY_POLICY_FIELDS.map(({ name, wire, form }) => [wire, form.toWire(policy[name])])
  return Object.fromEntries(shown) as KeyPolicyWire
}
