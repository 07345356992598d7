import { Option } from 'commander'
import { KEY_POLICY_FIELDS } from '../domain/key-policy.js'
import type { Wish } from './authorize.js'
import type { Row } from './print.js'

/**
 * Options for what a key's policy chooses between and may change later, by its table: a new row of
 * that kind is an option of `keys create` and `keys change`.
 */

const CHOICES = KEY_POLICY_FIELDS.flatMap(({ wire, title, form, afterwards, name, grantForm }) => {
  const options = 'options' in form && Array.isArray(form.options) ? form.options.map(String) : null
  if (options === null || afterwards === 'fixed') return []
  const words = options.map((option) => `${option}: ${form.inWords(option)}`).join('; ')
  const option = new Option(`--${wire.replaceAll('_', '-')} <choice>`, `${title} (${words})`)
  return [{ name, wire, isGranted: grantForm !== null, option: option.choices(options) }]
})

export const CHOICE_OPTIONS: readonly Option[] = CHOICES.map(({ option }) => option)

/** What was given of them, as the wire has it, and what of that is signed. */
export function givenChoices(given: Row): { readonly input: object; readonly wish: Wish } {
  const named = CHOICES.filter(({ option }) => given[option.attributeName()] !== undefined)
  const chosen = ({ option }: (typeof CHOICES)[number]) => given[option.attributeName()]
  return {
    input: Object.fromEntries(named.map((choice) => [choice.wire, chosen(choice)])),
    wish: Object.fromEntries(
      named.filter(({ isGranted }) => isGranted).map((choice) => [choice.name, chosen(choice)]),
    ),
  }
}
