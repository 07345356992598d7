/** What a vault's shares were worth at one moment. */
export interface SharePriceSample {
  /** Assets for a fixed number of shares, smallest units. */
  readonly sharePrice: bigint
  readonly atMs: number
}
