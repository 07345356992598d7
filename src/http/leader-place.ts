/** The epoch and address of the journal's leader. */
export interface LeaderPlace {
  readonly epoch: number
  readonly host: string
  readonly port: number
}
