// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @notice Burns 1 % of what is transferred.
contract FeeOnTransferToken is ERC20 {
    constructor() ERC20("Fee On Transfer", "FOT") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 value) internal override {
        uint256 burned = from == address(0) || to == address(0) ? 0 : value / 100;
        if (burned != 0) super._update(from, address(0), burned);
        super._update(from, to, value - burned);
    }
}
