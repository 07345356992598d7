import { CHAIN_IDS, chainName } from './chain-names.js'

/** The options of a select that chooses a chain. */
export function ChainOptions() {
  return (
    <>
      {CHAIN_IDS.map((id) => (
        <option key={id} value={id}>
          {chainName(id)}
        </option>
      ))}
    </>
  )
}
