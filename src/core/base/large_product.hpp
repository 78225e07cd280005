// A product of many factors, such as n!, which a double cannot hold from n = 171 on. Ratios of two are finite long
// after that, and as exact as with doubles wherever those would do.
#pragma once

#include <cmath>

namespace quorate {

class LargeProduct {
public:
    LargeProduct& operator*=(double factor) {
        value_ *= factor;
        if (value_ >= large) {
            value_ = std::ldexp(value_, -shift);  // a power of two: nothing is rounded
            exponent_ += shift;
        }
        return *this;
    }
    // Infinite only if the ratio itself is too large.
    double operator/(const LargeProduct& other) const {
        const double ratio = value_ / other.value_;
        return exponent_ == other.exponent_ ? ratio : std::ldexp(ratio, exponent_ - other.exponent_);
    }

private:
    static constexpr int shift = 512;
    static constexpr double large = 0x1p512;
    double value_ = 1;
    int exponent_ = 0;
};

}  // namespace quorate
