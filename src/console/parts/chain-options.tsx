import { CHAIN_IDS, chainName } from './chain-names.js'

/** Of a select by which a chain is chosen. */
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
