import { z } from 'zod'
import { CHAIN_IDS } from '../domain/chains.js'
import {
  KEY_POLICY,
  KEY_POLICY_FIELDS,
  type KeyPolicyField,
  type KeyPolicyName,
  type KeyPolicyRows,
} from '../domain/key-policy.js'
import type { CallPolicy, Chains, Choice, Flag, UsdCap } from '../domain/key-policy-forms.js'
import { callPolicyInput, callPolicyOutput } from './call-policy.js'
import { chainId, usdCap } from './primitives.js'

/** The fields of a key's policy on the wire, by the rows of `src/domain/key-policy.ts`. */

type Rows = KeyPolicyRows
type Wire<Name extends KeyPolicyName> = Rows[Name]['wire']
type NamesWhere<Which> = {
  [Name in KeyPolicyName]: Rows[Name] extends Which ? Name : never
}[KeyPolicyName]

const CHAINS = { input: z.array(chainId).min(1).max(CHAIN_IDS.length), output: z.array(chainId) }
type CallPolicyWire = ReturnType<CallPolicy['toWire']>
/** Typed as its form; `src/policy` validates the contents. */
const CALL_POLICY = {
  input: callPolicyInput as z.ZodType<CallPolicyWire>,
  output: callPolicyOutput as z.ZodType<CallPolicyWire>,
}
const FLAG = { input: z.boolean(), output: z.boolean() }
const USD_CAP = { input: usdCap, output: z.string() }

/** The schemas of a form's values, in requests and in answers. */
function schemasOf(form: Rows[KeyPolicyName]['form']): { input: z.ZodType; output: z.ZodType } {
  switch (form.kind) {
    case 'choice': {
      const options = z.enum(form.options)
      return { input: options, output: options }
    }
    case 'flag':
      return FLAG
    case 'usd-cap':
      return USD_CAP
    case 'chains':
      return CHAINS
    case 'call-policy':
      return CALL_POLICY
  }
}
type Schemas<Form> =
  Form extends Choice<infer Option>
    ? Record<'input' | 'output', z.ZodEnum<{ [O in Option]: O }>>
    : Form extends Flag
      ? typeof FLAG
      : Form extends UsdCap
        ? typeof USD_CAP
        : Form extends Chains
          ? typeof CHAINS
          : Form extends CallPolicy
            ? typeof CALL_POLICY
            : never
type Input<Name extends KeyPolicyName> = Schemas<Rows[Name]['form']>['input']
type Output<Name extends KeyPolicyName> = Schemas<Rows[Name]['form']>['output']

type RequiredName = NamesWhere<{ atCreation: 'required' }>
type ChangeableName = NamesWhere<{ afterwards: 'changeable' }>

/** For a request that makes a key. */
export const createdPolicy = shapeOf(
  () => true,
  (field) => {
    const { input } = schemasOf(KEY_POLICY[field.name].form)
    return field.atCreation === 'required' ? input : input.optional().describe(initialText(field))
  },
) as { [Name in RequiredName as Wire<Name>]: Input<Name> } & {
  [Name in Exclude<KeyPolicyName, RequiredName> as Wire<Name>]: z.ZodOptional<Input<Name>>
}

/** For a request that changes a key; omitted fields stay as they are. */
export const patchedPolicy = shapeOf(
  ({ afterwards }) => afterwards === 'changeable',
  ({ name }) => schemasOf(KEY_POLICY[name].form).input.optional(),
) as { [Name in ChangeableName as Wire<Name>]: z.ZodOptional<Input<Name>> }

export const shownPolicy = shapeOf(
  () => true,
  ({ name }) => schemasOf(KEY_POLICY[name].form).output,
) as { [Name in KeyPolicyName as Wire<Name>]: Output<Name> }

function shapeOf(
  has: (field: KeyPolicyField) => boolean,
  schemaOf: (field: KeyPolicyField) => z.ZodType,
): Readonly<Record<string, z.ZodType>> {
  const fields = KEY_POLICY_FIELDS.filter(has)
  return Object.fromEntries(fields.map((field) => [field.wire, schemaOf(field)]))
}

function initialText({ form, initial }: KeyPolicyField): string {
  const wire = form.toWire(initial)
  if (wire === null) return 'default: none'
  return `default: ${Array.isArray(wire) ? wire.join(', ') : wire}`
}
