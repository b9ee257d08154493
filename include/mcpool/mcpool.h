/* mcpool/mcpool.h - everything libmcpool offers. */
#ifndef MCPOOL_MCPOOL_H
#define MCPOOL_MCPOOL_H

#include <mcpool/error.h>

#endif
