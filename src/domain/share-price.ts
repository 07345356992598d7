/** The price of a vault's shares at one moment. */
export interface SharePriceSample {
  /** Assets for a fixed number of shares, in smallest units. */
  readonly sharePrice: bigint
  readonly atMs: number
}
