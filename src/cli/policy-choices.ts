import { Option } from 'commander'
import { KEY_POLICY_FIELDS } from '../domain/key-policy.js'
import { CALL_POLICY } from '../domain/key-policy-forms.js'
import type { Policy } from '../policy/policy.js'
import type { Wish } from './authorize.js'
import { readPolicyOrNone } from './policy-file.js'
import type { Row } from './print.js'

/**
 * Options for the choices in a key's policy that may change later, from its table: a new row of
 * that kind becomes an option of `keys create` and `keys change`. A policy for calls is read from a
 * file.
 */

const CHOICES = KEY_POLICY_FIELDS.flatMap(({ wire, title, form, afterwards, name, grantForm }) => {
  const values = valuesOf(form)
  if (values === null || afterwards === 'fixed') return []
  const options = [...values.keys()]
  const words = options.map((said) => `${said}: ${form.describe(values.get(said))}`).join('; ')
  const option = new Option(`--${wire.replaceAll('_', '-')} <choice>`, `${title} (${words})`)
  return [{ name, wire, values, isGranted: grantForm !== null, option: option.choices(options) }]
})

/** Returns the choices by their typed text; null for a field without choices. */
function valuesOf(form: { readonly kind: string }): ReadonlyMap<string, unknown> | null {
  if (form.kind === 'flag') {
    return new Map([
      ['no', false],
      ['yes', true],
    ])
  }
  if (!('options' in form) || !Array.isArray(form.options)) return null
  return new Map(form.options.map((option: unknown) => [String(option), option]))
}

const POLICY_FILE = new Option('--policy <file>', 'JSON: what single calls it may make; "none"')

export const CHOICE_OPTIONS: readonly Option[] = [
  ...CHOICES.map(({ option }) => option),
  POLICY_FILE,
]

/** Returns the given choices in wire form, and the part of them that is signed. */
export function givenChoices(given: Row): { readonly input: object; readonly wish: Wish } {
  const named = CHOICES.filter(({ option }) => given[option.attributeName()] !== undefined)
  const chosen = ({ option, values }: (typeof CHOICES)[number]) =>
    values.get(String(given[option.attributeName()]))
  const policy = givenPolicyFile(given)
  return {
    input: {
      ...Object.fromEntries(named.map((choice) => [choice.wire, chosen(choice)])),
      ...(policy === undefined ? {} : { policy: CALL_POLICY.toWire(policy) }),
    },
    wish: {
      ...Object.fromEntries(
        named.filter(({ isGranted }) => isGranted).map((choice) => [choice.name, chosen(choice)]),
      ),
      ...(policy === undefined ? {} : { policy }),
    },
  }
}

/** Undefined when no file was named; null for "no policy". */
function givenPolicyFile(given: Row): Policy | null | undefined {
  const file = given[POLICY_FILE.attributeName()]
  if (file === undefined) return undefined
  return readPolicyOrNone(String(file))
}
