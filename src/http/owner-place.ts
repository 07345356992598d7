/** Who owns the journal, and answers. */
export interface OwnerPlace {
  readonly epoch: number
  readonly host: string
  readonly port: number
}
