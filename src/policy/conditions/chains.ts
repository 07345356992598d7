import { CHAIN_IDS, chainFacts } from '../../domain/chains.js'
import { isSubset } from '../comparisons.js'
import { listed } from '../listed-condition.js'
import { listOf, readChain } from '../parse-values.js'
import { listForm, NUMBER } from '../wire-form.js'
import type { ConditionRow } from './row.js'

export const chainsRow: ConditionRow<readonly number[]> = {
  wire: 'chains',
  form: listForm(NUMBER),
  read: listOf(readChain, CHAIN_IDS.length),
  write: (ids) => ids,
  words: (ids) => `on ${ids.map((id) => chainFacts(id)?.name ?? id).join(', ')}`,
  compile: (ids) => listed('chains', ids, ({ chainId }) => chainId),
  isAlwaysJudged: true,
  isOfDelegations: true,
  liesWithin: isSubset,
  sample: { of: 'chain', values: (ids) => ids },
}
