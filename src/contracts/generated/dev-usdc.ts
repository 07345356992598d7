// Generated from DevUsdc.sol by scripts/contracts/compile.ts; do not edit.
export const devUsdcAbi = [
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "name_",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "symbol_",
        "type": "string"
      },
      {
        "internalType": "uint8",
        "name": "decimals_",
        "type": "uint8"
      },
      {
        "internalType": "address",
        "name": "owner_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [],
    "name": "ECDSAInvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "length",
        "type": "uint256"
      }
    ],
    "name": "ECDSAInvalidSignatureLength",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "ECDSAInvalidSignatureS",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "allowance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientAllowance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "balance",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "needed",
        "type": "uint256"
      }
    ],
    "name": "ERC20InsufficientBalance",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "approver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidApprover",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "receiver",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidReceiver",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "sender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "ERC20InvalidSpender",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      }
    ],
    "name": "ERC2612ExpiredSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "signer",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "ERC2612InvalidSigner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "validAfter",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validBefore",
        "type": "uint256"
      }
    ],
    "name": "ERC3009InvalidAuthorizationTime",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "ERC3009InvalidSignature",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "ERC3009UsedAuthorization",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "currentNonce",
        "type": "uint256"
      }
    ],
    "name": "InvalidAccountNonce",
    "type": "error"
  },
  {
    "inputs": [],
    "name": "InvalidShortString",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "OwnableInvalidOwner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "OwnableUnauthorizedAccount",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "uint8",
        "name": "bits",
        "type": "uint8"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "SafeCastOverflowedUintDowncast",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "str",
        "type": "string"
      }
    ],
    "name": "StringTooLong",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Approval",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "AuthorizationCanceled",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "AuthorizationUsed",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [],
    "name": "EIP712DomainChanged",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferred",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "Transfer",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "DOMAIN_SEPARATOR",
    "outputs": [
      {
        "internalType": "bytes32",
        "name": "",
        "type": "bytes32"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      }
    ],
    "name": "allowance",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "approve",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      }
    ],
    "name": "authorizationState",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "balanceOf",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "authorizer",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      },
      {
        "internalType": "uint8",
        "name": "v",
        "type": "uint8"
      },
      {
        "internalType": "bytes32",
        "name": "r",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "cancelAuthorization",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "decimals",
    "outputs": [
      {
        "internalType": "uint8",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "eip712Domain",
    "outputs": [
      {
        "internalType": "bytes1",
        "name": "fields",
        "type": "bytes1"
      },
      {
        "internalType": "string",
        "name": "name",
        "type": "string"
      },
      {
        "internalType": "string",
        "name": "version",
        "type": "string"
      },
      {
        "internalType": "uint256",
        "name": "chainId",
        "type": "uint256"
      },
      {
        "internalType": "address",
        "name": "verifyingContract",
        "type": "address"
      },
      {
        "internalType": "bytes32",
        "name": "salt",
        "type": "bytes32"
      },
      {
        "internalType": "uint256[]",
        "name": "extensions",
        "type": "uint256[]"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "amount",
        "type": "uint256"
      }
    ],
    "name": "mint",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "name",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "nonces",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "spender",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "deadline",
        "type": "uint256"
      },
      {
        "internalType": "uint8",
        "name": "v",
        "type": "uint8"
      },
      {
        "internalType": "bytes32",
        "name": "r",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "permit",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validAfter",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validBefore",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      },
      {
        "internalType": "uint8",
        "name": "v",
        "type": "uint8"
      },
      {
        "internalType": "bytes32",
        "name": "r",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "receiveWithAuthorization",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "symbol",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "totalSupply",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transfer",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      }
    ],
    "name": "transferFrom",
    "outputs": [
      {
        "internalType": "bool",
        "name": "",
        "type": "bool"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "transferOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "from",
        "type": "address"
      },
      {
        "internalType": "address",
        "name": "to",
        "type": "address"
      },
      {
        "internalType": "uint256",
        "name": "value",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validAfter",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "validBefore",
        "type": "uint256"
      },
      {
        "internalType": "bytes32",
        "name": "nonce",
        "type": "bytes32"
      },
      {
        "internalType": "uint8",
        "name": "v",
        "type": "uint8"
      },
      {
        "internalType": "bytes32",
        "name": "r",
        "type": "bytes32"
      },
      {
        "internalType": "bytes32",
        "name": "s",
        "type": "bytes32"
      }
    ],
    "name": "transferWithAuthorization",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  }
] as const

/** Creation code, without constructor arguments. */
export const devUsdcBytecode =
  '0x610180604052348015610010575f5ffd5b5060405161206e38038061206e83398101604081905261002f91610292565b808480604051806040016040528060018152602001603160f81b8152508787816003908161005d91906103bb565b50600461006a82826103bb565b50505061007c8261016760201b60201c565b6101205261008981610167565b61014052815160208084019190912060e052815190820120610100524660a05261011560e05161010051604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201529081019290925260608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b60805250503060c052506001600160a01b03811661014d57604051631e4fbdf760e01b81525f60048201526024015b60405180910390fd5b610156816101a4565b505060ff1661016052506104d19050565b5f5f829050601f81511115610191578260405163305a27a960e01b81526004016101449190610479565b805161019c826104ae565b179392505050565b600980546001600160a01b038381166001600160a01b0319831681179093556040519116919082907f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0905f90a35050565b634e487b7160e01b5f52604160045260245ffd5b5f82601f830112610218575f5ffd5b81516001600160401b03811115610231576102316101f5565b604051601f8201601f19908116603f011681016001600160401b038111828210171561025f5761025f6101f5565b604052818152838201602001851015610276575f5ffd5b8160208501602083015e5f918101602001919091529392505050565b5f5f5f5f608085870312156102a5575f5ffd5b84516001600160401b038111156102ba575f5ffd5b6102c687828801610209565b602087015190955090506001600160401b038111156102e3575f5ffd5b6102ef87828801610209565b935050604085015160ff81168114610305575f5ffd5b60608601519092506001600160a01b0381168114610321575f5ffd5b939692955090935050565b600181811c9082168061034057607f821691505b60208210810361035e57634e487b7160e01b5f52602260045260245ffd5b50919050565b601f8211156103b657828211156103b657805f5260205f20601f840160051c602085101561038f57505f5b90810190601f840160051c035f5b818110156103b2575f8382015560010161039d565b5050505b505050565b81516001600160401b038111156103d4576103d46101f5565b6103e8816103e2845461032c565b84610364565b6020601f82116001811461041a575f83156104035750848201515b5f19600385901b1c1916600184901b178455610472565b5f84815260208120601f198516915b828110156104495787850151825560209485019460019092019101610429565b508482101561046657868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b602081525f82518060208401528060208501604085015e5f604082850101526040601f19601f83011684010191505092915050565b8051602080830151919081101561035e575f1960209190910360031b1b16919050565b60805160a05160c05160e05161010051610120516101405161016051611b4261052c5f395f6101df01525f610fa601525f610f7b01525f610d3e01525f610d1601525f610c7101525f610c9b01525f610cc50152611b425ff3fe608060405234801561000f575f5ffd5b506004361061016e575f3560e01c80637ecebe00116100d2578063d505accf11610088578063e94a010211610063578063e94a010214610352578063ef55bec614610397578063f2fde38b146103aa575f5ffd5b8063d505accf146102e7578063dd62ed3e146102fa578063e3ee160e1461033f575f5ffd5b80638da5cb5b116100b85780638da5cb5b146102a457806395d89b41146102cc578063a9059cbb146102d4575f5ffd5b80637ecebe001461027657806384b0196e14610289575f5ffd5b80633644e515116101275780635a049a701161010d5780635a049a701461022657806370a0823114610239578063715018a61461026e575f5ffd5b80633644e5151461020957806340c10f1914610211575f5ffd5b806318160ddd1161015757806318160ddd146101b357806323b872dd146101c5578063313ce567146101d8575f5ffd5b806306fdde0314610172578063095ea7b314610190575b5f5ffd5b61017a6103bd565b60405161018791906117a5565b60405180910390f35b6101a361019e3660046117e6565b61044d565b6040519015158152602001610187565b6002545b604051908152602001610187565b6101a36101d336600461180e565b610466565b60405160ff7f0000000000000000000000000000000000000000000000000000000000000000168152602001610187565b6101b7610489565b61022461021f3660046117e6565b610497565b005b610224610234366004611858565b6104ad565b6101b76102473660046118a2565b73ffffffffffffffffffffffffffffffffffffffff165f9081526020819052604090205490565b6102246105a5565b6101b76102843660046118a2565b6105b8565b6102916105e2565b60405161018797969594939291906118bb565b60095460405173ffffffffffffffffffffffffffffffffffffffff9091168152602001610187565b61017a610640565b6101a36102e23660046117e6565b61064f565b6102246102f536600461197a565b61065c565b6101b76103083660046119e0565b73ffffffffffffffffffffffffffffffffffffffff9182165f90815260016020908152604080832093909416825291909152205490565b61022461034d366004611a11565b61080a565b6101a36103603660046117e6565b73ffffffffffffffffffffffffffffffffffffffff919091165f908152600860209081526040808320938352929052205460ff1690565b6102246103a5366004611a11565b610906565b6102246103b83660046118a2565b610a6c565b6060600380546103cc90611a8c565b80601f01602080910402602001604051908101604052809291908181526020018280546103f890611a8c565b80156104435780601f1061041a57610100808354040283529160200191610443565b820191905f5260205f20905b81548152906001019060200180831161042657829003601f168201915b5050505050905090565b5f3361045a818585610acf565b60019150505b92915050565b5f33610473858285610ae1565b61047e858585610baf565b506001949350505050565b5f610492610c58565b905090565b61049f610d8e565b6104a98282610de1565b5050565b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429602082015273ffffffffffffffffffffffffffffffffffffffff871691810191909152606081018590525f90610521906080015b60405160208183030381529060405280519060200120610e3b565b905061052f81858585610e82565b73ffffffffffffffffffffffffffffffffffffffff168673ffffffffffffffffffffffffffffffffffffffff1614610593576040517f77c207f400000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b61059d8686610eae565b505050505050565b6105ad610d8e565b6105b65f610efe565b565b73ffffffffffffffffffffffffffffffffffffffff81165f90815260076020526040812054610460565b5f6060805f5f5f60606105f3610f74565b6105fb610f9f565b604080515f808252602082019092527f0f000000000000000000000000000000000000000000000000000000000000009b939a50919850469750309650945092509050565b6060600480546103cc90611a8c565b5f3361045a818585610baf565b8342111561069e576040517f62791302000000000000000000000000000000000000000000000000000000008152600481018590526024015b60405180910390fd5b5f7f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c98888886106f68c73ffffffffffffffffffffffffffffffffffffffff165f90815260076020526040902080546001810190915590565b60408051602081019690965273ffffffffffffffffffffffffffffffffffffffff94851690860152929091166060840152608083015260a082015260c0810186905260e0016040516020818303038152906040528051906020012090505f61075d82610e3b565b90505f61076c82878787610e82565b90508973ffffffffffffffffffffffffffffffffffffffff168173ffffffffffffffffffffffffffffffffffffffff16146107f3576040517f4b800e4600000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff80831660048301528b166024820152604401610695565b6107fe8a8a8a610acf565b50505050505050505050565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267602082015273ffffffffffffffffffffffffffffffffffffffff808c169282019290925290891660608201526080810188905260a0810187905260c0810186905260e081018590525f906108869061010001610506565b905061089481858585610e82565b73ffffffffffffffffffffffffffffffffffffffff168a73ffffffffffffffffffffffffffffffffffffffff16146108f8576040517f77c207f400000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6107fe8a8a8a8a8a8a610fca565b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8602082015273ffffffffffffffffffffffffffffffffffffffff808c169282019290925290891660608201526080810188905260a0810187905260c0810186905260e081018590525f906109829061010001610506565b905061099081858585610e82565b73ffffffffffffffffffffffffffffffffffffffff168a73ffffffffffffffffffffffffffffffffffffffff16146109f4576040517f77c207f400000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b8873ffffffffffffffffffffffffffffffffffffffff81163314610a5d576040517fec442f0500000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff9091166004820152602401610695565b506107fe8a8a8a8a8a8a610fca565b610a74610d8e565b73ffffffffffffffffffffffffffffffffffffffff8116610ac3576040517f1e4fbdf70000000000000000000000000000000000000000000000000000000081525f6004820152602401610695565b610acc81610efe565b50565b610adc838383600161102b565b505050565b73ffffffffffffffffffffffffffffffffffffffff8381165f908152600160209081526040808320938616835292905220547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff811015610ba95781811015610b9b576040517ffb8f41b200000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff841660048201526024810182905260448101839052606401610695565b610ba984848484035f61102b565b50505050565b73ffffffffffffffffffffffffffffffffffffffff8316610bfe576040517f96c6fd1e0000000000000000000000000000000000000000000000000000000081525f6004820152602401610695565b73ffffffffffffffffffffffffffffffffffffffff8216610c4d576040517fec442f050000000000000000000000000000000000000000000000000000000081525f6004820152602401610695565b610adc838383611170565b5f3073ffffffffffffffffffffffffffffffffffffffff7f000000000000000000000000000000000000000000000000000000000000000016148015610cbd57507f000000000000000000000000000000000000000000000000000000000000000046145b15610ce757507f000000000000000000000000000000000000000000000000000000000000000090565b610492604080517f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60208201527f0000000000000000000000000000000000000000000000000000000000000000918101919091527f000000000000000000000000000000000000000000000000000000000000000060608201524660808201523060a08201525f9060c00160405160208183030381529060405280519060200120905090565b60095473ffffffffffffffffffffffffffffffffffffffff1633146105b6576040517f118cdaa7000000000000000000000000000000000000000000000000000000008152336004820152602401610695565b73ffffffffffffffffffffffffffffffffffffffff8216610e30576040517fec442f050000000000000000000000000000000000000000000000000000000081525f6004820152602401610695565b6104a95f8383611170565b5f610460610e47610c58565b836040517f19010000000000000000000000000000000000000000000000000000000000008152600281019290925260228201526042902090565b5f5f5f5f610e9288888888611317565b925092509250610ea2828261140a565b50909695505050505050565b610eb8828261150d565b604051819073ffffffffffffffffffffffffffffffffffffffff8416907f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81905f90a35050565b6009805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681179093556040519116919082907f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0905f90a35050565b60606104927f00000000000000000000000000000000000000000000000000000000000000006115f5565b60606104927f00000000000000000000000000000000000000000000000000000000000000006115f5565b610fd48383611632565b610fde868261150d565b604051819073ffffffffffffffffffffffffffffffffffffffff8816907f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5905f90a361059d868686610baf565b73ffffffffffffffffffffffffffffffffffffffff841661107a576040517fe602df050000000000000000000000000000000000000000000000000000000081525f6004820152602401610695565b73ffffffffffffffffffffffffffffffffffffffff83166110c9576040517f94280d620000000000000000000000000000000000000000000000000000000081525f6004820152602401610695565b73ffffffffffffffffffffffffffffffffffffffff8085165f9081526001602090815260408083209387168352929052208290558015610ba9578273ffffffffffffffffffffffffffffffffffffffff168473ffffffffffffffffffffffffffffffffffffffff167f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b9258460405161116291815260200190565b60405180910390a350505050565b73ffffffffffffffffffffffffffffffffffffffff83166111a7578060025f82825461119c9190611add565b909155506112579050565b73ffffffffffffffffffffffffffffffffffffffff83165f908152602081905260409020548181101561122c576040517fe450d38c00000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff851660048201526024810182905260448101839052606401610695565b73ffffffffffffffffffffffffffffffffffffffff84165f9081526020819052604090209082900390555b73ffffffffffffffffffffffffffffffffffffffff8216611280576002805482900390556112ab565b73ffffffffffffffffffffffffffffffffffffffff82165f9081526020819052604090208054820190555b8173ffffffffffffffffffffffffffffffffffffffff168373ffffffffffffffffffffffffffffffffffffffff167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161130a91815260200190565b60405180910390a3505050565b5f80807f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a084111561135057505f91506003905082611400565b604080515f808252602082018084528a905260ff891692820192909252606081018790526080810186905260019060a0016020604051602081039080840390855afa1580156113a1573d5f5f3e3d5ffd5b50506040517fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0015191505073ffffffffffffffffffffffffffffffffffffffff81166113f757505f925060019150829050611400565b92505f91508190505b9450945094915050565b5f82600381111561141d5761141d611b15565b03611426575050565b600182600381111561143a5761143a611b15565b03611471576040517ff645eedf00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600282600381111561148557611485611b15565b036114bf576040517ffce698f700000000000000000000000000000000000000000000000000000000815260048101829052602401610695565b60038260038111156114d3576114d3611b15565b036104a9576040517fd78bce0c00000000000000000000000000000000000000000000000000000000815260048101829052602401610695565b73ffffffffffffffffffffffffffffffffffffffff82165f9081526008602090815260408083208484529091529020548290829060ff1615611599576040517f8f7808c100000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff90921660048301526024820152604401610695565b505073ffffffffffffffffffffffffffffffffffffffff9091165f9081526008602090815260408083209383529290522080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00166001179055565b60605f611601836116ba565b6040805160208082528183019092529192505f91906020820181803683375050509182525060208101929092525090565b81811665800000000000165f81156116515761164c6116fa565b611659565b611659611704565b65ffffffffffff169050811984168111801561167757508119831681105b8484909161059d576040517f4a931c1700000000000000000000000000000000000000000000000000000000815260048101929092526024820152604401610695565b5f60ff8216601f811115610460576040517fb3512b0c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f6104924361170a565b5f610492425b5f65ffffffffffff821115611755576040517f6dfcc6500000000000000000000000000000000000000000000000000000000081526030600482015260248101839052604401610695565b5090565b5f81518084528060208401602086015e5f6020828601015260207fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011685010191505092915050565b602081525f6117b76020830184611759565b9392505050565b803573ffffffffffffffffffffffffffffffffffffffff811681146117e1575f5ffd5b919050565b5f5f604083850312156117f7575f5ffd5b611800836117be565b946020939093013593505050565b5f5f5f60608486031215611820575f5ffd5b611829846117be565b9250611837602085016117be565b929592945050506040919091013590565b803560ff811681146117e1575f5ffd5b5f5f5f5f5f60a0868803121561186c575f5ffd5b611875866117be565b94506020860135935061188a60408701611848565b94979396509394606081013594506080013592915050565b5f602082840312156118b2575f5ffd5b6117b7826117be565b7fff000000000000000000000000000000000000000000000000000000000000008816815260e060208201525f6118f560e0830189611759565b82810360408401526119078189611759565b6060840188905273ffffffffffffffffffffffffffffffffffffffff8716608085015260a0840186905283810360c0850152845180825260208087019350909101905f5b8181101561196957835183526020938401939092019160010161194b565b50909b9a5050505050505050505050565b5f5f5f5f5f5f5f60e0888a031215611990575f5ffd5b611999886117be565b96506119a7602089016117be565b955060408801359450606088013593506119c360808901611848565b9699959850939692959460a0840135945060c09093013592915050565b5f5f604083850312156119f1575f5ffd5b6119fa836117be565b9150611a08602084016117be565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c031215611a2a575f5ffd5b611a338a6117be565b9850611a4160208b016117be565b975060408a0135965060608a0135955060808a0135945060a08a01359350611a6b60c08b01611848565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c90821680611aa057607f821691505b602082108103611ad7577f4e487b71000000000000000000000000000000000000000000000000000000005f52602260045260245ffd5b50919050565b80820180821115610460577f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b7f4e487b71000000000000000000000000000000000000000000000000000000005f52602160045260245ffd'
