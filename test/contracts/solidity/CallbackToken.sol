// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

import {Callback} from "./Callback.sol";

/// @notice Calls a stranger on every transfer, as ERC-777 tokens can.
contract CallbackToken is ERC20, Callback {
    constructor() ERC20("Callback", "CBK") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from != address(0)) _callBack();
    }
}
