import { ADDRESSES_MAX } from '../bounds.js'
import type { Token } from '../call-terms.js'
import { isSubset } from '../comparisons.js'
import { listed } from '../listed-condition.js'
import { listOf, readToken } from '../parse-values.js'
import { listForm, TOKEN } from '../wire-form.js'
import { tokenText } from '../word-forms.js'
import type { ConditionRow } from './row.js'

/** The output of a swap, deposit, withdrawal or gas swap. */
export const tokenOutRow: ConditionRow<readonly Token[]> = {
  wire: 'token_out',
  form: listForm(
    TOKEN,
    'what a swap, deposit (its vault), withdrawal or gas swap gives the wallet',
  ),
  read: listOf(readToken, ADDRESSES_MAX),
  write: (tokens) => tokens,
  words: (tokens) => `that give the wallet ${tokens.map(tokenText).join(' or ')}`,
  compile: (tokens) => listed('token_out', tokens, (call) => call.tokenOut),
  liesWithin: isSubset,
  sample: { of: 'tokenOut', values: (tokens) => tokens },
  tokens: (tokens) => tokens,
}
